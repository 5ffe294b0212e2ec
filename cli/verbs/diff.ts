/** `ipledger diff --from … --to …`: lists the differences between two points in time. */
import type { Command } from 'commander';
import {
  type AddressChange,
  type AddressRecord,
  type DiffReply,
  LedgerService,
  type Position,
  type PoolChange,
  type SubnetChange,
} from '../../proto/generated/ipledger.ts';
import { formatHolder, formatPosition } from '../output/format.ts';
import { joinNonEmpty, formatSubnet } from '../../lib/ledger-text/texts.ts';
import { exitStatus } from '../cli-error.ts';
import { collectStream } from '../clients/read-history.ts';
import type { Answer } from '../output/answer.ts';
import { type LostPeriod, lostEventsAt, formatLostPeriod } from '../time/lost-events.ts';
import { type Column, formatTable } from '../output/table.ts';
import { parsePointInTime, formatTime, timeFormats } from '../time/times.ts';
import { addVerbOptions, runAndPrint, outputStyle, type VerbOptions } from '../program/verb.ts';

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

export function defineDiff(verb: Command): void {
  addVerbOptions(verb)
    .requiredOption('--from <time|seq>', 'the earlier time or event')
    .option('--to <time|seq>', 'the later time or event', 'now')
    .option('--subnet <name>', 'only this subnet')
    .addHelpText(
      'after',
      `
A time is ${timeFormats}. A number is an event: the state after all events of its command.
A change that was undone in between is left out; \`ipledger history all --since … --until …\` has it.

Exit status:
  0  there are differences
  ${exitStatus.empty}  there are none`,
    )
    .action(({ from, to, subnet, ...options }: DiffOptions) =>
      runAndPrint(options, async (allocator, signal) => {
        const { zone } = outputStyle(options);
        const points = {
          from: parsePointInTime(from, zone),
          to: to === 'now' ? undefined : parsePointInTime(to, zone),
        };
        const replies = allocator.stream(LedgerService.diff, { ...points, subnet });
        const difference = joinParts(await collectStream(replies, ({ to: place }) => place, signal));
        const lostPeriods = [
          await lostEventsAt(allocator, points.from, { position: difference.from, at: difference.fromAt }),
          await lostEventsAt(allocator, points.to, { position: difference.to, at: difference.toAt }),
        ];
        return createAnswer(
          difference,
          lostPeriods.filter((period) => period !== undefined),
        );
      }),
    );
}

interface Difference {
  readonly from?: Position;
  readonly to?: Position;
  /** Times of the last events before these points. */
  readonly fromAt: string;
  readonly toAt: string;
  readonly subnets: readonly SubnetChange[];
  readonly pools: readonly PoolChange[];
  readonly addresses: readonly AddressChange[];
}

/** Joins the parts of a reply. The first holds everything but the addresses. */
const joinParts = (parts: readonly DiffReply[]): Difference => ({
  fromAt: '',
  toAt: '',
  subnets: [],
  pools: [],
  ...parts[0],
  addresses: parts.flatMap(({ addresses }) => addresses),
});

function createAnswer(difference: Difference, lostPeriods: readonly LostPeriod[]): Answer {
  const { from, to, fromAt, toAt, subnets, pools, addresses } = difference;
  const rows = [...subnets.map(formatSubnetRow), ...pools.map(formatPoolRow), ...addresses.map(formatAddressRow)];
  if (rows.length === 0) process.exitCode = exitStatus.empty;
  const listing = { columns, rows };
  return {
    content: { ...difference, lostPeriods },
    table: (zone, width) => {
      const exactly = width === 'wide';
      const lines = [
        `from: ${formatPosition(from, formatTime(fromAt, zone, exactly))}`,
        `to:   ${formatPosition(to, formatTime(toAt, zone, exactly))}`,
        ...lostPeriods.map((each) => formatLostPeriod(each, zone)),
      ];
      return `${rows.length > 0 ? `${formatTable(listing, zone, width)}\n` : ''}${lines.join('\n')}\n`;
    },
    listing: () => listing,
    note: rows.length > 0 ? undefined : 'no differences',
  };
}

function formatSubnetRow({ name, before, after }: SubnetChange): string[] {
  const format = (spec: typeof before): string => (spec ? `subnet ${formatSubnet(spec)}` : 'no subnet');
  const [old, current] = before && after ? formatChangedFields(before, after) : [format(before), format(after)];
  return [name, '', old, current, '', '', ''];
}

function formatPoolRow({ name, before, after }: PoolChange): string[] {
  const format = (spec: typeof before): string => (spec ? `pool ${name}: ${spec.ips.join(' ')}` : `no pool ${name}`);
  const [old = '', current = ''] =
    before && after
      ? formatChangedFields(before, after).map((text) => `pool ${name}: ${text}`)
      : [format(before), format(after)];
  return [after?.subnet ?? before?.subnet ?? '', '', old, current, '', '', ''];
}

/** The changed fields of a configuration, before and after, with the API's field names. */
function formatChangedFields<Spec extends object>(before: Spec, after: Spec): [string, string] {
  const names = (Object.keys(after) as (keyof Spec & string)[]).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const format = (spec: Spec): string =>
    names.map((name) => `${name} ${[spec[name]].flat().join(' ') || '-'}`).join(', ');
  return [format(before), format(after)];
}

function formatAddressRow({ before, after }: AddressChange): string[] {
  const format = (record: AddressRecord | undefined): string =>
    record
      ? joinNonEmpty(
          ' ',
          record.state,
          formatHolder(record),
          record.allocation?.node ? `on ${record.allocation.node}` : '',
        )
      : '';
  return [
    after?.subnet ?? '',
    after?.address ?? '',
    format(before),
    format(after),
    before?.allocation?.podUid ?? '',
    after?.allocation?.podUid ?? '',
    String(after?.lastSeq ?? ''),
  ];
}
