/** `ipledger watch`: prints events as they happen. */
import { type Command, InvalidArgumentError } from 'commander';
import { IpledgerError, errorMessage } from '../../lib/errors.ts';
import { subscribeEvents } from '../../lib/ledger-client/event-subscription.ts';
import type { MessageInput } from '../../proto/codec.ts';
import { type Event, LedgerService, type Position, type WatchRequest } from '../../proto/generated/ipledger.ts';
import type { LedgerClient } from '../clients/ledger-client.ts';
import { eventColumns, formatEventRow } from '../output/event-rows.ts';
import { CliError, exitStatus } from '../cli-error.ts';
import { createRowWriter, loadYamlFormat, type OutputStyle } from '../output/answer.ts';
import { addVerbOptions, outputStyle, type VerbOptions, withAllocator } from '../program/verb.ts';

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

export function defineWatch(verb: Command): void {
  addVerbOptions(verb)
    .option('--from <seq>', 'start with this event; default: the next new event', parseNumber)
    .option('--count <count>', 'end after this number of events', parseNumber)
    .option('--subnet <name>', 'only this subnet')
    .option('-n, --namespace <name>', 'only Pods in this namespace')
    .option('--pod <name>', 'only Pods with this name')
    .option('--node <name>', 'only allocations and bindings on this node')
    .option('--address <address>', 'only this address')
    .option('--type <event...>', 'only these event types, as AddressReleased')
    .addHelpText(
      'after',
      `
With -o json each event is one line. If the connection fails, the verb reconnects, to another replica if there is one, and neither skips
nor repeats an event. It fails if the ledger was restored from a backup. On Ctrl-C it prints the event to continue with.`,
    )
    .action((options: WatchOptions) =>
      withAllocator(options, (allocator, signal) => follow(allocator, options, signal)),
    );
}

/** How long a rejected token is retried: clients and allocators cache tokens for 10 s. */
const renewalMs = 30_000;

function parseNumber(text: string): number {
  const number = Number(text);
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new InvalidArgumentError('It must be a number from 1.');
  return number;
}

async function follow(allocator: LedgerClient, options: WatchOptions, signal: AbortSignal): Promise<void> {
  const { subnet, namespace, pod, node, address, type: types = [] } = options;
  const filter: MessageInput<WatchRequest> = { subnet, namespace, pod, node, address, types };
  const write = await createEventWriter(outputStyle(options));
  const { from = 0, count = Infinity } = options;
  let remaining = count;
  /** The last position; undefined: start with the next event. Without a hash, it is not checked. */
  let current: Position | undefined = from === 0 ? undefined : { epoch: 0, seq: from - 1, hash: '' };
  const nextSeq = (): number => (current ? current.seq + 1 : 0);
  const done = new AbortController();
  let acceptedAt = -Infinity;
  await subscribeEvents({
    position: () => current,
    // The allocator checks that its ledger contains `after`: a restored ledger reuses sequence
    // numbers.
    watch: (after) => {
      const request = { ...filter, fromSeq: nextSeq(), ...(after?.hash && { after }) };
      return allocator.stream(LedgerService.watch, request);
    },
    isFiltered: [subnet, namespace, pod, node, address].some((each) => each !== undefined) || types.length > 0,
    apply: ({ events, position }) => {
      const selected = events.slice(0, remaining);
      if (selected.length > 0) process.stdout.write(write(selected));
      remaining -= selected.length;
      if (remaining === 0) done.abort();
      current = position;
      acceptedAt = performance.now();
    },
    onFailure: (error, failures) => {
      // An expired token may have been renewed: the next stream reads it again.
      const isRejected = error instanceof IpledgerError && error.code === 'UNAUTHENTICATED';
      const mayBeRenewed = isRejected && performance.now() - acceptedAt < renewalMs;
      if (!current || !(mayBeRenewed || isTransient(error))) throw error;
      if (failures === 0) process.stderr.write(`${errorMessage(error)}; continuing with event ${nextSeq()}\n`);
    },
    signal: AbortSignal.any([signal, done.signal]),
  });
  if (done.signal.aborted) return;
  if (current) process.stderr.write(`continue with --from ${nextSeq()}\n`);
  process.exitCode = exitStatus.interrupted;
}

/** Writes rows; in JSON and YAML, one document per event. */
async function createEventWriter(style: OutputStyle): Promise<(events: readonly Event[]) => string> {
  const write = createRowWriter(style, eventColumns);
  if (write) return (events) => write(events.map(formatEventRow));
  const format = style.output === 'json' ? JSON.stringify : await createYamlDocuments();
  return (events) => events.map((event) => `${format(event)}\n`).join('');
}

async function createYamlDocuments(): Promise<(event: Event) => string> {
  const formatYaml = await loadYamlFormat();
  return (event) => `---\n${formatYaml(event).trimEnd()}`;
}

const isTransient = (error: unknown): boolean =>
  (error instanceof CliError && error.exitStatus === exitStatus.unreachable) ||
  (error instanceof IpledgerError && error.kind === 'transient');
