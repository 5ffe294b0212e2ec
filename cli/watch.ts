/** `ipledger watch`: events as they happen. */
import { type Command, InvalidArgumentError } from 'commander';
import { backoffMs, pause } from '../lib/deadline.ts';
import { IpledgerError } from '../lib/errors.ts';
import type { Input } from '../proto/codec.ts';
import { type Event, LedgerService, type Position, type WatchRequest } from '../proto/ipledger.ts';
import type { Allocator } from './allocator.ts';
import { eventColumns, eventRow } from './event.ts';
import { exitStatus, Failure } from './failure.ts';
import { rowWriter, type Style, yamlOf } from './output.ts';
import { addVerb, styleOf, type VerbOptions, withAllocator } from './verb.ts';

const againFirstMs = 200;
const againMostMs = 5_000;

interface WatchOptions extends VerbOptions {
  readonly from?: number;
  readonly count?: number;
  readonly subnet?: string;
  readonly namespace?: string;
  readonly pod?: string;
  readonly node?: string;
  readonly address?: string;
  readonly type?: string[];
}

export function addWatch(program: Command): void {
  addVerb(program, 'watch', 'events as they happen, until Ctrl-C')
    .option('--from <seq>', 'begin with this event; without it, with what happens from now on', parseNumber)
    .option('--count <count>', 'end after so many events', parseNumber)
    .option('--subnet <name>', 'only of this subnet')
    .option('-n, --namespace <name>', 'only of Pods in this namespace')
    .option('--pod <name>', 'only of Pods of this name')
    .option('--node <name>', 'only what was given on this node, and its bindings')
    .option('--address <address>', 'only what touches this address')
    .option('--type <event...>', 'only events of these types, as AddressReleased')
    .addHelpText(
      'after',
      `
With -o json each event is one line. Where the allocator goes away, another replica is asked, or the same again, and no event is
missed or told twice; of a ledger that was restored from a backup meanwhile that is said. On Ctrl-C it says with which event to go on.`,
    )
    .action((options: WatchOptions) =>
      withAllocator(options, (allocator, signal) => follow(allocator, options, signal)),
    );
}

function parseNumber(text: string): number {
  const number = Number(text);
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new InvalidArgumentError('It is a number from 1 on.');
  return number;
}

async function follow(allocator: Allocator, options: WatchOptions, signal: AbortSignal): Promise<void> {
  const { subnet, namespace, pod, node, address, type: types } = options;
  const filter: Input<WatchRequest> = { subnet, namespace, pod, node, address, types: types ?? [] };
  const write = eventWriter(styleOf(options));
  const { from = 0, count = Infinity } = options;
  let [next, left] = [from, count];
  // What was seen, the ledger is held to: of one that was restored meanwhile the numbers say nothing
  let after: Position | undefined;
  for (let attempt = 0; left > 0 && !signal.aborted;) {
    try {
      // The first reply says where the ledger stands, which may be far ahead of the events that follow
      let isAhead = next > 0;
      const request = { ...filter, fromSeq: next, after };
      for await (const { events, position } of allocator.listen(LedgerService.watch, request)) {
        attempt = 0;
        const told = events.slice(0, left);
        if (told.length > 0) process.stdout.write(write(told));
        left -= told.length;
        if (left === 0) return;
        if (position && position.seq >= next - 1 && (!isAhead || told.length > 0))
          [next, after] = [position.seq + 1, position];
        isAhead = false;
      }
    } catch (error) {
      if (next === 0 || !mayPass(error)) throw error;
      if (attempt === 0) process.stderr.write(`${reasonOf(error)}; going on with event ${next}\n`);
      await pause(backoffMs(attempt++, againFirstMs, againMostMs), signal);
    }
  }
  if (!signal.aborted) return;
  if (next > 0) process.stderr.write(`go on with --from ${next}\n`);
  process.exitCode = exitStatus.interrupted;
}

/** Rows, or a document an event. */
function eventWriter(style: Style): (events: readonly Event[]) => string {
  const write = rowWriter(style, eventColumns);
  if (write) return (events) => write(events.map(eventRow));
  const each = style.output === 'json' ? JSON.stringify : (event: Event) => `---\n${yamlOf(event).trimEnd()}`;
  return (events) => events.map((event) => `${each(event)}\n`).join('');
}

const mayPass = (error: unknown): boolean =>
  (error instanceof Failure && error.exitStatus === exitStatus.unreachable) ||
  (error instanceof IpledgerError && error.kind === 'transient');

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
