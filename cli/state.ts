/** `ipledger state --at TIME|SEQ`: the address map as it was. */
import type { Command } from 'commander';
import {
  type AddressRecord,
  LedgerService,
  type Pool,
  type Position,
  type StateAtReply,
  type Subnet,
} from '../proto/ipledger.ts';
import { podOf } from './event.ts';
import { exitStatus, Failure } from './failure.ts';
import { gathered } from './gathered.ts';
import type { Answer } from './output.ts';
import { type LostTime, lostAtMoment, lostTimeText } from './lost.ts';
import { type Column, tableOf } from './table.ts';
import { readMoment, showTime, timeForms } from './times.ts';
import { addVerb, answer, styleOf, type VerbOptions } from './verb.ts';
import { beginningAfter } from './who-had/look-up.ts';

interface StateOptions extends VerbOptions {
  readonly at: string;
  readonly subnet?: string;
}

const columns: readonly Column[] = [
  { name: 'SUBNET' },
  { name: 'ADDRESS' },
  { name: 'STATE' },
  { name: 'FOR' },
  { name: 'NODE' },
  { name: 'SINCE', time: true },
  { name: 'UID', wide: true },
  { name: 'OWNER', wide: true },
  { name: 'PROVIDER', wide: true },
  { name: 'MAC', wide: true },
  { name: 'CONTAINERS', wide: true },
  { name: 'LAST EVENT', wide: true },
];

export function addState(program: Command): void {
  addVerb(program, 'state', 'who had which address at a time, or after an event')
    .option('--at <time|seq>', 'when', 'now')
    .option('--subnet <name>', 'only of this subnet')
    .addHelpText(
      'after',
      `
A time is ${timeForms}; a number is an event, and the state that after all of its command.
Addresses that nobody had, and that were not kept back, are left out.

Exit status:
  0  somebody had an address
  ${exitStatus.nothing}  nobody had any`,
    )
    .action(({ at, subnet, ...options }: StateOptions) =>
      answer(options, async (allocator, signal) => {
        const { zone } = styleOf(options);
        const moment = at === 'now' ? undefined : readMoment(at, zone);
        const replies = allocator.listen(LedgerService.stateAt, { moment, subnet });
        const map = wholeOf(await gathered(replies, ({ position }) => position, signal));
        // Of a time before there was a ledger it does not know who had what
        const began =
          moment && 'at' in moment && map.position?.seq === 0 && (await beginningAfter(allocator, moment.at));
        if (began)
          throw new Failure(
            'refused',
            `the ledger begins at ${showTime(began, zone)}, and does not know who had which address before`,
          );
        const lost = await lostAtMoment(allocator, moment, map);
        if (subnet !== undefined && map.subnets.length === 0 && map.records.length === 0)
          return { ...shown(map, lost), note: `there was no subnet ${subnet} then` };
        return shown(map, lost);
      }),
    );
}

interface AddressMap {
  readonly position?: Position;
  /** When the last event before it happened. */
  readonly at: string;
  readonly subnets: readonly Subnet[];
  readonly pools: readonly Pool[];
  readonly records: readonly AddressRecord[];
}

/** All of it comes with the first part, but for the records. */
const wholeOf = (parts: readonly StateAtReply[]): AddressMap => ({
  at: '',
  subnets: [],
  pools: [],
  ...parts[0],
  records: parts.flatMap(({ records }) => records),
});

function shown(map: AddressMap, lost: LostTime | undefined): Answer {
  const { position, at, records } = map;
  if (records.length === 0) process.exitCode = exitStatus.nothing;
  const listing = { columns, rows: records.map(row) };
  return {
    content: { ...map, lost },
    table: (zone, width) => {
      const place = placeText(position, showTime(at, zone, width === 'wide'));
      return `${records.length > 0 ? `${tableOf(listing, zone, width)}\n` : ''}${place}\n${lost ? `${lostTimeText(lost, zone)}\n` : ''}`;
    },
    listing: () => listing,
    note: records.length > 0 ? undefined : 'nobody had an address then',
  };
}

/** Where in the ledger something was so. */
export const placeText = (position: Position | undefined, at: string): string =>
  position && position.seq > 0
    ? `as of event ${position.seq}, which happened at ${at}`
    : 'before the first event of the ledger';

function row(record: AddressRecord): string[] {
  const { subnet, address, state, allocation, bindings, lastSeq } = record;
  return [
    subnet,
    address,
    state,
    forText(record),
    allocation?.node ?? bindings[0]?.node ?? '',
    allocation?.at ?? record.quarantine?.at ?? record.reservation?.at ?? record.releasedAt,
    allocation?.podUid ?? '',
    allocation?.owner ? `${allocation.owner.kind}/${allocation.owner.name}` : '',
    allocation?.attachment?.provider ?? '',
    allocation?.mac ?? record.reservation?.mac ?? '',
    bindings.map(({ containerId }) => containerId).join(' '),
    String(lastSeq),
  ];
}

/** Who has it, or what it is kept back for. */
export function forText({ allocation, reservation, quarantine }: AddressRecord): string {
  if (allocation?.attachment) return podOf(allocation.attachment);
  return quarantine?.reason ?? reservation?.reservedFor ?? '';
}
