/** `ipledger history`: lists events of an address, Pod, subnet, node or owner, newest first. */
import { isIP } from 'node:net';
import { type Command, InvalidArgumentError } from 'commander';
import type { MessageInput } from '../../proto/codec.ts';
import type { HistoryRequest, Position, Event } from '../../proto/generated/ipledger.ts';
import type { LedgerClient } from '../clients/ledger-client.ts';
import { readHistory } from '../clients/read-history.ts';
import { formatNeverUsed } from '../output/format.ts';
import { eventColumns, addressHistoryColumns, formatEventRow } from '../output/event-rows.ts';
import { CliError, exitStatus } from '../cli-error.ts';
import { createSlowSearchHint } from '../output/progress.ts';
import { parseTime, timeFormats } from '../time/times.ts';
import {
  addReadModelOptions,
  type ReadModelOptions,
  outputStyle,
  withAllocator,
  withReadModel,
} from '../program/verb.ts';
import { createRowWriter, loadYamlFormat, type OutputStyle } from '../output/answer.ts';
import type { Column } from '../output/table.ts';

const maxLimit = 1_000_000;

interface HistoryOptions extends ReadModelOptions {
  readonly subnet?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

export function defineHistory(verb: Command): void {
  addReadModelOptions(verb)
    .usage('[options] ADDRESS | pod NAMESPACE/NAME | subnet NAME | node NAME | owner [NAMESPACE/]KIND/NAME | all')
    .option('--subnet <name>', 'for an address: only in this subnet; default: in all subnets')
    .option('--since <time>', 'only events at this time or later')
    .option('--until <time>', 'only events before this time')
    .option('--limit <count>', 'the maximal number of events', parseLimit, 100)
    .addHelpText(
      'after',
      `
A time is ${timeFormats}.
The history of an address has an index in the ledger. Other histories need a search of the log, or the index of the read model,
which --read-model or IPLEDGER_READ_MODEL names. Events are printed as they are found.

Exit status:
  0  there are events
  ${exitStatus.empty}  there are none, or the address was never used`,
    )
    .action((subject: string, name: string | undefined, options: HistoryOptions) => {
      const request = createRequest(subject, name, options);
      const run = request.address ? withAllocator : withReadModel;
      return run(options, (allocator) => printHistory(allocator, request, options));
    });
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > maxLimit)
    throw new InvalidArgumentError(`It must be a number from 1 to ${maxLimit}.`);
  return limit;
}

function createRequest(
  subject: string,
  name: string | undefined,
  options: HistoryOptions,
): MessageInput<HistoryRequest> {
  const { zone } = outputStyle(options);
  const period = {
    since: options.since && parseTime(options.since, zone),
    until: options.until && parseTime(options.until, zone),
  };
  if (period.since && period.until && period.since >= period.until)
    throw new CliError('usage', `--until ${options.until} is not after --since ${options.since}: the period is empty`);
  return { subnet: options.subnet, ...period, ...parseSubject(subject, name) };
}

/** @throws CliError for an invalid subject. */
function parseSubject(subject: string, name: string | undefined): MessageInput<HistoryRequest> {
  if (name === undefined) {
    if (subject === 'all') return {};
    if (isIP(subject) !== 0) return { address: subject };
    throw new CliError('usage', `${subject} is not an address: use ADDRESS, pod NAMESPACE/NAME, subnet NAME, …`);
  }
  const parts = name.split('/');
  switch (subject) {
    case 'pod': {
      const [namespace, pod, ...rest] = parts;
      if (namespace && pod && rest.length === 0) return { namespace, pod };
      throw new CliError('usage', `${name} is not the name of a Pod: use NAMESPACE/NAME`);
    }
    case 'owner': {
      const [ownerName = '', kind, namespace, ...rest] = parts.toReversed();
      if (kind && rest.length === 0) return { namespace, owner: { kind, name: ownerName } };
      throw new CliError('usage', `${name} is not the name of an owner: use KIND/NAME or NAMESPACE/KIND/NAME`);
    }
    case 'subnet':
      return { subnet: name };
    case 'node':
      return { node: name };
    default:
      throw new CliError('usage', `history ${subject} ${name}: use pod, subnet, node or owner, followed by its name`);
  }
}

async function printHistory(
  allocator: LedgerClient,
  request: MessageInput<HistoryRequest>,
  options: HistoryOptions,
): Promise<void> {
  const style = outputStyle(options);
  const list = await createEventListWriter(style, request.address === undefined ? eventColumns : addressHistoryColumns);
  const hintSlowSearch = createSlowSearchHint(options);
  let [count, more] = [0, false];
  let position: Position | undefined;
  let subnets: readonly string[] | undefined;
  for await (const page of readHistory(allocator, request, options.limit)) {
    position ??= page.position;
    subnets ??= page.subnets;
    process.stdout.write(list.next(page.events));
    count += page.events.length;
    more = page.more;
    if (more && count < options.limit && request.address === undefined)
      hintSlowSearch(position, page.searchedDownToSeq);
  }
  process.stdout.write(list.end({ position, more }));
  if (count === 0) process.exitCode = exitStatus.empty;
  if (style.output === 'json' || style.output === 'yaml') return;
  if (more) process.stderr.write(`older events are left out: raise --limit (${options.limit})\n`);
  else if (count === 0) process.stderr.write(`${explainEmpty(request, subnets)}\n`);
}

const explainEmpty = ({ address, subnet }: MessageInput<HistoryRequest>, subnets: readonly string[] = []): string =>
  address && subnets.length === 0 ? `${address} ${formatNeverUsed(subnet)}` : 'no event matches';

export interface EventListWriter {
  /** The text of the next events. */
  readonly next: (events: readonly Event[]) => string;
  /** Ends the list. JSON and YAML add the fields of `rest`. */
  readonly end: (rest: object) => string;
}

export async function createEventListWriter(style: OutputStyle, columns: readonly Column[]): Promise<EventListWriter> {
  const write = createRowWriter(style, columns);
  if (!write) return style.output === 'json' ? jsonList() : yamlList(await loadYamlFormat());
  let hasRows = false;
  return {
    next: (events) => {
      if (events.length === 0) return '';
      hasRows = true;
      return write(events.map(formatEventRow));
    },
    end: () => (style.output === 'csv' && !hasRows ? write([]) : ''),
  };
}

/** Writes the layout of `JSON.stringify(…, null, 2)`. */
function jsonList(): EventListWriter {
  let before = '{\n  "events": [';
  const next = (event: Event): string => {
    const text = `${before}\n${JSON.stringify(event, null, 2).replaceAll(/^/gm, '    ')}`;
    before = ',';
    return text;
  };
  return {
    next: (events) => events.map(next).join(''),
    end: (rest) => `${before === ',' ? '\n  ' : before}],\n${JSON.stringify(rest, null, 2).slice(2)}\n`,
  };
}

function yamlList(formatYaml: (content: unknown) => string): EventListWriter {
  let before = 'events:\n';
  const next = (event: Event): string => {
    const text = before + formatYaml([event]);
    before = '';
    return text;
  };
  return {
    next: (events) => events.map(next).join(''),
    end: (rest) => (before === '' ? '' : 'events: []\n') + formatYaml(rest),
  };
}
