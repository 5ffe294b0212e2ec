/** `ipledger history`: what happened to an address, a Pod, a subnet, a node or an owner, newest first. */
import { isIP } from 'node:net';
import { type Command, InvalidArgumentError } from 'commander';
import { IpledgerError } from '../lib/errors.ts';
import type { Input } from '../proto/codec.ts';
import { type Event, type HistoryReply, type HistoryRequest, LedgerService, type Position } from '../proto/ipledger.ts';
import type { Allocator } from './allocator.ts';
import { eventColumns, eventColumnsOfOneAddress } from './event.ts';
import { eventList } from './event-list.ts';
import { exitStatus, Failure } from './failure.ts';
import { longSearch } from './long-search.ts';
import { readTime, timeForms } from './times.ts';
import { addIndexed, type IndexedOptions, styleOf, withAllocator, withIndex } from './verb.ts';

const pageSizeMost = 1_000;
const limitMost = 1_000_000;

interface HistoryOptions extends IndexedOptions {
  readonly subnet?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

export function addHistory(program: Command): void {
  addIndexed(program, 'history <subject> [name]', 'what happened, newest first: to an address, a Pod, a subnet, …')
    .usage('[options] ADDRESS | pod NAMESPACE/NAME | subnet NAME | node NAME | owner [NAMESPACE/]KIND/NAME | all')
    .option('--subnet <name>', 'of an address: only in this subnet; else in all that know it')
    .option('--since <time>', 'only what happened then or later')
    .option('--until <time>', 'only what happened before')
    .option('--limit <count>', 'at most so many events', parseLimit, 100)
    .addHelpText(
      'after',
      `
A time is ${timeForms}.
An address is found at once, however long the ledger. All else is looked for from the end of the log, or in the read model's
index, where --index or IPLEDGER_INDEX names it. Events are printed as they are found.

Exit status:
  0  there are some
  ${exitStatus.nothing}  there are none: none that match, or the address was never used`,
    )
    .action((subject: string, name: string | undefined, options: HistoryOptions) => {
      const request = requestOf(subject, name, options);
      const run = request.address ? withAllocator : withIndex;
      return run(options, (allocator) => tell(allocator, request, options));
    });
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > limitMost)
    throw new InvalidArgumentError(`It is a number from 1 to ${limitMost}.`);
  return limit;
}

function requestOf(subject: string, name: string | undefined, options: HistoryOptions): Input<HistoryRequest> {
  const { zone } = styleOf(options);
  const period = {
    since: options.since && readTime(options.since, zone),
    until: options.until && readTime(options.until, zone),
  };
  if (period.since && period.until && period.since >= period.until)
    throw new Failure(
      'usage',
      `--until ${options.until} is not after --since ${options.since}: nothing happened between`,
    );
  return { subnet: options.subnet, ...period, ...subjectOf(subject, name) };
}

/** @throws Failure for what is nothing that has a history. */
function subjectOf(subject: string, name: string | undefined): Input<HistoryRequest> {
  if (name === undefined) {
    if (subject === 'all') return {};
    if (isIP(subject) !== 0) return { address: subject };
    throw new Failure('usage', `${subject} is no address; a history is of ADDRESS, pod NAMESPACE/NAME, subnet NAME, …`);
  }
  const parts = name.split('/');
  switch (subject) {
    case 'pod': {
      const [namespace, pod, ...rest] = parts;
      if (namespace && pod && rest.length === 0) return { namespace, pod };
      throw new Failure('usage', `${name} names no Pod: write NAMESPACE/NAME`);
    }
    case 'owner': {
      const [ownerName = '', kind, namespace, ...rest] = parts.toReversed();
      if (kind && rest.length === 0) return { namespace, owner: { kind, name: ownerName } };
      throw new Failure('usage', `${name} names no owner: write KIND/NAME or NAMESPACE/KIND/NAME`);
    }
    case 'subnet':
      return { subnet: name };
    case 'node':
      return { node: name };
    default:
      throw new Failure('usage', `history ${subject} ${name}: write pod, subnet, node or owner, and then its name`);
  }
}

async function tell(allocator: Allocator, request: Input<HistoryRequest>, options: HistoryOptions): Promise<void> {
  const style = styleOf(options);
  const list = eventList(style, request.address === undefined ? eventColumns : eventColumnsOfOneAddress);
  const searched = longSearch(options);
  let [count, more] = [0, false];
  let position: Position | undefined;
  let subnets: readonly string[] | undefined;
  for await (const page of historyOf(allocator, request, options.limit)) {
    position ??= page.position;
    subnets ??= page.subnets;
    process.stdout.write(list.next(page.events));
    count += page.events.length;
    more = page.more;
    if (more && count < options.limit && request.address === undefined) searched(position, page.searchedSeq);
  }
  process.stdout.write(list.end({ position, more }));
  if (count === 0) process.exitCode = exitStatus.nothing;
  if (style.output === 'json' || style.output === 'yaml') return;
  if (more) process.stderr.write(`older events are left out: --limit is ${options.limit}\n`);
  else if (count === 0) process.stderr.write(`${nothing(request, subnets)}\n`);
}

const nothing = ({ address, subnet }: Input<HistoryRequest>, subnets: readonly string[] = []): string =>
  address && subnets.length === 0 ? `${address} ${neverUsed(subnet)}` : 'no such event';

/** Of an address that no subnet knows, or not this one. */
export const neverUsed = (subnet: string | undefined): string =>
  `was never used in ${subnet ? `subnet ${subnet}` : 'any subnet'}`;

export interface HistoryPage {
  readonly position: Position | undefined;
  /** Of an address: which know it, on the first page. */
  readonly subnets: readonly string[];
  /** How far back it looked. */
  readonly searchedSeq: number;
  readonly events: readonly Event[];
  /** Whether older ones follow. */
  readonly more: boolean;
}

/** The pages of a history, up to so many events. A page may be empty and not be the last; that of an address that was never used is. */
export async function* historyOf(
  allocator: Allocator,
  request: Input<HistoryRequest>,
  limit: number,
): AsyncGenerator<HistoryPage> {
  let pageToken = '';
  let left = limit;
  do {
    const pageSize = Math.min(pageSizeMost, left);
    const reply = await historyPage(allocator, { ...request, pageSize, pageToken });
    pageToken = reply.nextPageToken;
    left -= reply.events.length;
    const { position, events, subnets, searchedSeq } = reply;
    yield { position, events, subnets, searchedSeq, more: pageToken !== '' };
  } while (pageToken !== '' && left > 0);
}

/** One page. For the allocator an address that was never used is one that it does not know; here nothing happened to it. */
export async function historyPage(allocator: Allocator, request: Input<HistoryRequest>): Promise<HistoryReply> {
  try {
    return await allocator.ask(LedgerService.history, request);
  } catch (error) {
    if (!(error instanceof IpledgerError && error.code === 'ADDRESS_UNKNOWN')) throw error;
    const { position } = await allocator.ask(LedgerService.getStatus, {});
    return { ...(position && { position }), events: [], nextPageToken: '', searchedSeq: 0, subnets: [] };
  }
}
