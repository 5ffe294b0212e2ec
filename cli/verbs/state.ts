/** `ipledger state --at TIME|SEQ`: lists allocations, reservations and quarantines at a time. */
import type { Command } from 'commander';
import {
  type AddressRecord,
  LedgerService,
  type Pool,
  type Position,
  type StateAtReply,
  type Subnet,
} from '../../proto/generated/ipledger.ts';
import { collectStream } from '../clients/read-history.ts';
import type { LedgerClient } from '../clients/ledger-client.ts';
import type { Answer } from '../output/answer.ts';
import { formatHolder, formatPosition } from '../output/format.ts';
import { type Column, formatTable } from '../output/table.ts';
import { CliError, exitStatus } from '../cli-error.ts';
import { addVerbOptions, outputStyle, runAndPrint, type VerbOptions } from '../program/verb.ts';
import { ledgerStartAfter, formatLostPeriod, type LostPeriod, lostEventsAt } from '../time/lost-events.ts';
import { formatTime, parsePointInTime, type PointInTime, timeFormats, type TimeZone } from '../time/times.ts';

interface StateOptions extends VerbOptions {
  readonly at: string;
  readonly subnet?: string;
}

const columns: readonly Column[] = [
  { name: 'SUBNET' },
  { name: 'ADDRESS' },
  { name: 'STATE' },
  { name: 'HOLDER' },
  { name: 'NODE' },
  { name: 'SINCE', time: true },
  { name: 'UID', wide: true },
  { name: 'OWNER', wide: true },
  { name: 'PROVIDER', wide: true },
  { name: 'MAC', wide: true },
  { name: 'CONTAINERS', wide: true },
  { name: 'LAST EVENT', wide: true },
];

export function defineState(verb: Command): void {
  addVerbOptions(verb)
    .option('--at <time|seq>', 'the time or event', 'now')
    .option('--subnet <name>', 'only this subnet')
    .addHelpText(
      'after',
      `
A time is ${timeFormats}. A number is an event: the state after all events of its command.
Free addresses are left out.

Exit status:
  0  there are addresses in use
  ${exitStatus.empty}  there are none`,
    )
    .action(({ at, subnet, ...options }: StateOptions) =>
      runAndPrint(options, async (allocator, signal) => {
        const { zone } = outputStyle(options);
        const point = at === 'now' ? undefined : parsePointInTime(at, zone);
        const replies = allocator.stream(LedgerService.stateAt, { pointInTime: point, subnet });
        const state = joinParts(await collectStream(replies, ({ position }) => position, signal));
        await assertInLedger(allocator, point, state, zone);
        const lostPeriod = await lostEventsAt(allocator, point, state);
        const answer = createAnswer(state, lostPeriod);
        if (subnet !== undefined && state.subnets.length === 0 && state.records.length === 0)
          return { ...answer, note: `there was no subnet ${subnet} at that time` };
        return answer;
      }),
    );
}

interface LedgerStateAt {
  readonly position?: Position;
  /** The time of the last event before the point in time. */
  readonly at: string;
  readonly subnets: readonly Subnet[];
  readonly pools: readonly Pool[];
  readonly records: readonly AddressRecord[];
}

/** Joins the parts of a reply. The first holds everything but the records. */
const joinParts = (parts: readonly StateAtReply[]): LedgerStateAt => ({
  at: '',
  subnets: [],
  pools: [],
  ...parts[0],
  records: parts.flatMap(({ records }) => records),
});

/** @throws CliError for a time before the first event: the ledger has no data about it. */
async function assertInLedger(
  allocator: LedgerClient,
  point: PointInTime | undefined,
  { position }: LedgerStateAt,
  zone: TimeZone,
): Promise<void> {
  if (!point || !('at' in point) || position?.seq !== 0) return;
  const start = await ledgerStartAfter(allocator, point.at);
  if (start !== undefined)
    throw new CliError(
      'refused',
      `the ledger starts at ${formatTime(start, zone)} and has no data about earlier times: use a later --at`,
    );
}

function createAnswer(state: LedgerStateAt, lostPeriod: LostPeriod | undefined): Answer {
  const { position, at, records } = state;
  if (records.length === 0) process.exitCode = exitStatus.empty;
  const listing = { columns, rows: records.map(formatRow) };
  return {
    content: { ...state, lostPeriod },
    table: (zone, width) => {
      const table = records.length > 0 ? `${formatTable(listing, zone, width)}\n` : '';
      const where = formatPosition(position, formatTime(at, zone, width === 'wide'));
      return `${table}${where}\n${lostPeriod ? `${formatLostPeriod(lostPeriod, zone)}\n` : ''}`;
    },
    listing: () => listing,
    note: records.length > 0 ? undefined : 'no address was in use at that time',
  };
}

function formatRow(record: AddressRecord): string[] {
  const { subnet, address, state, allocation, bindings, lastSeq } = record;
  return [
    subnet,
    address,
    state,
    formatHolder(record),
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
