/** `ipledger diff --from … --to …`: what changed between two moments. */
import type { Command } from 'commander';
import {
  type AddressChange,
  type AddressRecord,
  type DiffReply,
  LedgerService,
  type Position,
  type PoolChange,
  type SubnetChange,
} from '../proto/ipledger.ts';
import { join, subnetText } from './event.ts';
import { exitStatus } from './failure.ts';
import { gathered } from './gathered.ts';
import type { Answer } from './output.ts';
import { type LostTime, lostAtMoment, lostTimeText } from './lost.ts';
import { forText, placeText } from './state.ts';
import { type Column, tableOf } from './table.ts';
import { readMoment, showTime, timeForms } from './times.ts';
import { addVerb, answer, styleOf, type VerbOptions } from './verb.ts';

interface DiffOptions extends VerbOptions {
  readonly from: string;
  readonly to: string;
  readonly subnet?: string;
}

const columns: readonly Column[] = [
  { name: 'SUBNET' },
  { name: 'ADDRESS' },
  { name: 'BEFORE' },
  { name: 'AFTER' },
  { name: 'UID BEFORE', wide: true },
  { name: 'UID AFTER', wide: true },
  { name: 'LAST EVENT', wide: true },
];

export function addDiff(program: Command): void {
  addVerb(program, 'diff', 'what changed from one time, or event, to another')
    .requiredOption('--from <time|seq>', 'the earlier one')
    .option('--to <time|seq>', 'the later one', 'now')
    .option('--subnet <name>', 'only of this subnet')
    .addHelpText(
      'after',
      `
A time is ${timeForms}; a number is an event, and the state that after all of its command.
What came and went in between is left out; \`ipledger history all --since … --until …\` has it.

Exit status:
  0  something changed
  ${exitStatus.nothing}  nothing did`,
    )
    .action(({ from, to, subnet, ...options }: DiffOptions) =>
      answer(options, async (allocator, signal) => {
        const { zone } = styleOf(options);
        const moments = { from: readMoment(from, zone), to: to === 'now' ? undefined : readMoment(to, zone) };
        const replies = allocator.listen(LedgerService.diff, { ...moments, subnet });
        const found = wholeOf(await gathered(replies, ({ to: place }) => place, signal));
        const places = [
          await lostAtMoment(allocator, moments.from, { position: found.from, at: found.fromAt }),
          await lostAtMoment(allocator, moments.to, { position: found.to, at: found.toAt }),
        ];
        return shown(
          found,
          places.filter((lost) => lost !== undefined),
        );
      }),
    );
}

interface Difference {
  readonly from?: Position;
  readonly to?: Position;
  /** When the last events before these moments happened. */
  readonly fromAt: string;
  readonly toAt: string;
  readonly subnets: readonly SubnetChange[];
  readonly pools: readonly PoolChange[];
  readonly addresses: readonly AddressChange[];
}

/** All of it comes with the first part, but for the addresses. */
const wholeOf = (parts: readonly DiffReply[]): Difference => ({
  fromAt: '',
  toAt: '',
  subnets: [],
  pools: [],
  ...parts[0],
  addresses: parts.flatMap(({ addresses }) => addresses),
});

function shown(found: Difference, lost: readonly LostTime[]): Answer {
  const rows = [...found.subnets.map(subnetRow), ...found.pools.map(poolRow), ...found.addresses.map(addressRow)];
  if (rows.length === 0) process.exitCode = exitStatus.nothing;
  const listing = { columns, rows };
  return {
    content: { ...found, lost },
    table: (zone, width) => {
      const exactly = width === 'wide';
      const lines = [
        `from: ${placeText(found.from, showTime(found.fromAt, zone, exactly))}`,
        `to:   ${placeText(found.to, showTime(found.toAt, zone, exactly))}`,
        ...lost.map((each) => lostTimeText(each, zone)),
      ];
      return `${rows.length > 0 ? `${tableOf(listing, zone, width)}\n` : ''}${lines.join('\n')}\n`;
    },
    listing: () => listing,
    note: rows.length > 0 ? undefined : 'nothing changed',
  };
}

function subnetRow({ name, before, after }: SubnetChange): string[] {
  const said = (spec: typeof before): string => (spec ? `subnet ${subnetText(spec)}` : 'no subnet');
  const [was, is] = before && after ? fieldsThatDiffer(before, after) : [said(before), said(after)];
  return [name, '', was, is, '', '', ''];
}

function poolRow({ name, before, after }: PoolChange): string[] {
  const said = (spec: typeof before): string => (spec ? `pool ${name}: ${spec.ips.join(' ')}` : `no pool ${name}`);
  const [was, is] =
    before && after
      ? fieldsThatDiffer(before, after).map((text) => `pool ${name}: ${text}`)
      : [said(before), said(after)];
  return [after?.subnet ?? before?.subnet ?? '', '', was ?? '', is ?? '', '', '', ''];
}

/** What a configuration was changed from and to, under the names of the API; what stayed is left out. */
function fieldsThatDiffer<Spec extends object>(before: Spec, after: Spec): [string, string] {
  const names = (Object.keys(after) as (keyof Spec & string)[]).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const said = (spec: Spec): string =>
    names.map((name) => `${name} ${[spec[name]].flat().join(' ') || '-'}`).join(', ');
  return [said(before), said(after)];
}

function addressRow({ before, after }: AddressChange): string[] {
  const said = (record: AddressRecord | undefined): string =>
    record
      ? join(' ', record.state, forText(record), record.allocation?.node ? `on ${record.allocation.node}` : '')
      : '';
  return [
    after?.subnet ?? '',
    after?.address ?? '',
    said(before),
    said(after),
    before?.allocation?.podUid ?? '',
    after?.allocation?.podUid ?? '',
    String(after?.lastSeq ?? ''),
  ];
}
