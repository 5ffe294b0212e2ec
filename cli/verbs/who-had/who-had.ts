/** `ipledger who-had ADDRESS --at TIME`: prints the Pod that had an address at a time. */
import { isIP, SocketAddress } from 'node:net';
import type { Command } from 'commander';
import {
  findHolder,
  type HistoryProgress,
  type HolderQuery,
  type HolderSources,
  type SubnetHolder,
} from '../../allocation-periods/find-holder.ts';
import type { Answer } from '../../output/answer.ts';
import { formatNeverUsed } from '../../output/format.ts';
import { formatPodName, joinNonEmpty } from '../../../lib/ledger-text/texts.ts';
import { textColumns } from '../../output/table.ts';
import { CliError, exitStatus } from '../../cli-error.ts';
import { addReadModelOptions, outputStyle, type ReadModelOptions, runWithIndex } from '../../program/verb.ts';
import { describeDifference, readLedgerTime } from '../../time/ledger-time.ts';
import { ledgerStartAfter, findLostPeriod, formatLostPeriod } from '../../time/lost-events.ts';
import { formatTime, parseTime, timeFormats, type TimeZone } from '../../time/times.ts';
import { formatAddressAtInstant, formatGrant, formatOwner, formatRelease } from './format.ts';

/** The number of events between two lines of progress. */
const progressEvents = 5_000;

interface WhoHadOptions extends ReadModelOptions {
  readonly at: string;
  readonly subnet?: string;
}

export function defineWhoHad(verb: Command): void {
  addReadModelOptions(verb)
    .option('--at <time>', 'the time', 'now')
    .option('--subnet <name>', 'only this subnet; default: all subnets that have a record of the address')
    .addHelpText(
      'after',
      `
A time is ${timeFormats}.
The read model, which --read-model or IPLEDGER_READ_MODEL names, shortens the search for an earlier time. The events are read from the
allocator.

Exit status:
  0  a Pod had the address
  ${exitStatus.empty}  no Pod had it: prints the Pods before and after, or that the address was never used`,
    )
    .action((address: string, { at, subnet, ...options }: WhoHadOptions) => {
      if (isIP(address) === 0) throw new CliError('usage', `${address} is not an IP address`);
      const { zone } = outputStyle(options);
      const instant = at === 'now' ? undefined : parseTime(at, zone);
      if (instant !== undefined && Date.parse(instant) > Date.now())
        throw new CliError('usage', `--at ${at} is in the future`);
      const query = { address: canonicalAddress(address), subnet, instant };
      return runWithIndex(options, (allocator, readModel) => whoHad({ allocator, readModel }, query, zone));
    });
}

/** @throws CliError for a time before the first event; errors of findHolder. */
async function whoHad(sources: HolderSources, query: HolderQuery, zone: TimeZone): Promise<Answer> {
  const { allocator } = sources;
  const ledgerTime = query.instant === undefined ? '' : await readLedgerTime(allocator);
  const { position, at, subnets } = await findHolder(sources, { ...query, ledgerTime }, createProgress(zone));
  const { address } = query;
  const hasNoHolder = subnets.every(({ holder }) => !holder);
  const start = hasNoHolder ? await ledgerStartAfter(allocator, at) : undefined;
  if (start !== undefined)
    throw new CliError(
      'refused',
      `the ledger starts at ${formatTime(start, zone)} and has no data about ${address} at ${formatTime(at, zone)}: use a later --at`,
    );
  const lostPeriod = await findLostPeriod(allocator, position, at);
  const difference = describeDifference(ledgerTime);
  if (hasNoHolder) process.exitCode = exitStatus.empty;
  return {
    content: { position, address, at, subnets, lostPeriod },
    table: (tableZone, width) => {
      const style = { zone: tableZone, exactly: width === 'wide' };
      if (subnets.length === 0)
        return `${address} at ${formatTime(at, tableZone, style.exactly)}: no holder\n  it ${formatNeverUsed(query.subnet)}\n`;
      return subnets.map((each) => formatAddressAtInstant({ address, instant: at }, each, style)).join('\n');
    },
    listing: () => ({ columns, rows: subnets.map((each) => formatRow(address, each)) }),
    note:
      joinNonEmpty(
        '\n',
        lostPeriod ? `${formatLostPeriod(lostPeriod, zone)}; another Pod may have had the address` : '',
        difference === undefined ? '' : noteOfClock(difference),
      ) || undefined,
  };
}

/** Explains the times: people give times of their clock, and events have ledger time. */
const noteOfClock = (difference: string): string =>
  `ledger time is ${difference} the clock here: --at and the times of this answer are of the clock, and other verbs show ledger time`;

/** Writes an address as the ledger does: "FD00:0::1" becomes "fd00::1". */
const canonicalAddress = (address: string): string =>
  new SocketAddress({ address, family: isIP(address) === 6 ? 'ipv6' : 'ipv4' }).address;

function createProgress(zone: TimeZone): HistoryProgress {
  let printed = 0;
  return (events, at) => {
    if (events < printed + progressEvents) return;
    printed = events;
    process.stderr.write(`${events} events read, back to ${formatTime(at, zone)}\n`);
  };
}

const columns = textColumns(
  'SUBNET',
  'ADDRESS',
  'POD',
  'UID',
  'OWNER',
  'NODE',
  'CONTAINERS',
  'FROM',
  'UNTIL',
  'ALLOCATED BECAUSE',
  'RELEASED BECAUSE',
);

/** Formats a row. Without a holder, the cells from POD on are empty. */
function formatRow(address: string, { subnet, holder }: SubnetHolder): string[] {
  if (!holder) return [subnet, address, ...columns.slice(2).map(() => '')];
  return [
    subnet,
    address,
    formatPodName(holder.attachment),
    holder.podUid,
    formatOwner(holder),
    holder.node,
    holder.bindings.map(({ containerId }) => containerId).join(' '),
    holder.from,
    holder.until,
    formatGrant(holder),
    formatRelease(holder),
  ];
}
