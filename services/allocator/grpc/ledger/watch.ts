/** Ledger.Watch: streams the events from a position on, and then each new event. */
import { timeoutSignal } from '../../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../../lib/errors.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { LedgerService } from '../../../../proto/generated/ipledger.ts';
import type { Seq } from '../../../../ledger/domain/values/ledger.ts';
import { parseEvent, type StoredEvent } from '../../../../ledger/log/chain/chain.ts';
import { eventTypes, isEventType } from '../../../../ledger/domain/events/registry.ts';
import { type EventFilter, matchAllEvents, selectEvents } from '../../../../ledger/log/reader/event-filter.ts';
import type { Replica } from '../../../../ledger/log/reader/replica.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { assertNotRewound } from '../recovery/freeze.ts';
import { positionMessage, estimateEventBytes } from '../messages.ts';
import { maxPageBytes } from '../../../../lib/net/page-size.ts';
import { readAddress } from '../read-request.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import type { EncodedEvents } from './encoded-events.ts';
import type { SharedTurns } from '../../../../lib/process/shared-turns.ts';

const keepaliveMs = 5_000;
const eventsPerReply = 500;
const maxLagMs = 10_000;

/** The objects that all streams of a replica share. */
export interface Watched {
  readonly allocator: AllocatorContext;
  readonly encoded: EncodedEvents;
  /**
   * Turns in which events are parsed and encoded, so that any number of streams does not delay the
   * writer.
   */
  readonly turns: SharedTurns;
}

/**
 * Streams the events that match the request, never splitting a command between replies. Replies
 * with events are encoded.
 * @throws IpledgerError INVALID_REQUEST; POSITION_GONE; LEDGER_FROZEN; LEDGER_DAMAGED; UNAVAILABLE
 * if this replica cannot follow the log.
 */
export async function* streamEvents(
  { allocator, encoded, turns }: Watched,
  request: api.WatchRequest,
  context: CallContext,
): AsyncGenerator<MessageInput<api.WatchReply> | Buffer> {
  const { replica } = allocator;
  const { signal } = context;
  const filter = filterOf(request);
  await assertNotRewound(allocator, request.after, context);
  let next = request.fromSeq || replica.head.seq + 1;
  // The log may have events that this replica has not applied yet.
  let reachedHead = replica.head;
  const keepalive = () => {
    rejectIfLagging(allocator);
    const head = reachedHead.seq > replica.head.seq ? reachedHead : replica.head;
    return { position: positionMessage(head), events: [] };
  };
  if (next > replica.head.seq + 1) {
    await rejectBeyondHead(replica, next, signal);
    // No reply may have an earlier position than the caller has seen.
    await allocator.positionWaits.until(next - 1, context.actor, timeoutSignal(maxLagMs, signal));
  }
  yield keepalive();
  const commits = new CommitWaiter(replica, signal);
  try {
    while (!signal.aborted) {
      commits.reset();
      for await (const events of eventsFrom(replica, next, { turns, signal })) {
        const last = events.at(-1);
        if (!last) continue;
        next = last.envelope.seq + 1;
        reachedHead = { ...reachedHead, ledger: replica.head.ledger, seq: last.envelope.seq, hash: last.hash };
        const selected = await selectEvents(replica.ledger, events, filter, signal);
        const position = LedgerService.watch.responseSerialize({ position: positionMessage(reachedHead) });
        yield Buffer.concat([position, ...(await turns.map(selected, (event) => encoded.encode(event)))]);
      }
      if (next > replica.head.seq) await commits.wait(keepaliveMs);
      if (!commits.hasCommitted) yield keepalive();
    }
  } finally {
    commits.stop();
  }
}

const filterOf = ({ subnet, namespace, pod, node, address, types }: api.WatchRequest): EventFilter => ({
  ...matchAllEvents,
  subnet,
  namespace,
  pod,
  node,
  address: address === '' ? '' : readAddress(address),
  types: readTypes(types),
});

/** Rejects an unknown type, because no event would ever match it. */
function readTypes(types: readonly string[]): readonly string[] {
  const unknown = types.find((type) => !isEventType(type));
  if (unknown === undefined) return types;
  throw new IpledgerError('INVALID_REQUEST', `types: ${unknown} is not an event type: use ${eventTypes.join(', ')}`);
}

/**
 * Rejects keepalives of a standby that cannot follow the log: a keepalive means that there are no
 * new events.
 */
function rejectIfLagging({ replica, follower }: AllocatorContext): void {
  const lagMs = follower()?.lagMs ?? 0;
  if (lagMs > maxLagMs)
    throw new IpledgerError(
      'UNAVAILABLE',
      `this replica has applied the events up to ${replica.head.seq} and could not read the log for ${Math.floor(lagMs / 1_000)} s: continue at another replica`,
    );
}

/** Rejects a position beyond the ledger. A position beyond this replica alone is valid. */
async function rejectBeyondHead(replica: Replica, from: Seq, signal: AbortSignal): Promise<void> {
  const head = await replica.ledger.head(signal);
  if (from > head.seq + 1)
    throw new IpledgerError(
      'POSITION_GONE',
      `event ${from} is beyond the ledger, whose last event is ${head.seq}. etcd may have been restored from a backup: start again with a new snapshot`,
    );
}

/** Yields the committed events from a position on, in complete commands. */
async function* eventsFrom(
  replica: Replica,
  from: Seq,
  { turns, signal }: { readonly turns: SharedTurns; readonly signal: AbortSignal },
): AsyncGenerator<readonly StoredEvent[]> {
  const recent = replica.recentFrom(from);
  if (recent) {
    yield* splitIntoReplies(recent);
    return;
  }
  const knownSeq = replica.head.seq;
  let expected = from;
  let pending: StoredEvent[] = [];
  for await (const lines of replica.ledger.read(from, signal)) {
    for (const event of await turns.map(lines, ({ text }) => parseEvent(text))) {
      if (event.envelope.seq !== expected) throw notDense(from, expected, event.envelope.seq);
      expected++;
      pending.push(event);
    }
    const complete = pending.findLastIndex(({ envelope }) => envelope.part[0] === envelope.part[1]) + 1;
    yield* splitIntoReplies(pending.slice(0, complete));
    pending = pending.slice(complete);
  }
  if (expected <= knownSeq)
    throw new IpledgerError(
      'LEDGER_DAMAGED',
      `the log ends before event ${expected}, which this replica has applied: run ipledger verify`,
    );
}

function notDense(from: Seq, expected: Seq, found: Seq): IpledgerError {
  if (expected === from)
    return new IpledgerError(
      'POSITION_GONE',
      `event ${from} is not in the log (any more): the first live one is ${found}`,
    );
  return new IpledgerError('LEDGER_DAMAGED', `the log is not dense: event ${found} follows ${expected - 1}`);
}

/**
 * Splits events into replies of limited size, but never inside a command. A command is at most one
 * etcd transaction.
 */
function* splitIntoReplies(events: readonly StoredEvent[]): Generator<readonly StoredEvent[]> {
  let [first, bytes] = [0, 0];
  for (let index = 0; index < events.length; index++) {
    const event = events[index] as StoredEvent;
    const [part, parts] = event.envelope.part;
    bytes += estimateEventBytes(event);
    if (part === parts && (index + 1 - first >= eventsPerReply || bytes > maxPageBytes / 2)) {
      yield events.slice(first, index + 1);
      [first, bytes] = [index + 1, 0];
    }
  }
  if (first < events.length) yield events.slice(first);
}

/**
 * Waits for the next commit. A stream of Watch waits after each commit, so a wait creates no signal
 * and no error.
 */
export class CommitWaiter {
  readonly #signal: AbortSignal;
  readonly #stop: () => void;
  #hasCommitted = false;
  #wake: (() => void) | undefined;

  /** @param signal ends waits */
  constructor(replica: Pick<Replica, 'onCommitted'>, signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#end);
    this.#stop = replica.onCommitted(() => {
      this.#hasCommitted = true;
      this.#wake?.();
    });
  }

  /** Makes `wait` and `hasCommitted` ignore earlier commits. */
  reset(): void {
    this.#hasCommitted = false;
  }

  get hasCommitted(): boolean {
    return this.#hasCommitted;
  }

  /**
   * Resolves when there was a commit since the last `reset`, after `ms` milliseconds, or when the
   * signal is aborted. Only one wait at a time.
   */
  async wait(ms: number): Promise<void> {
    if (this.#hasCommitted || this.#signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#wake = resolve;
    await promise;
    this.#wake = undefined;
    clearTimeout(timer);
  }

  stop(): void {
    this.#stop();
    this.#signal.removeEventListener('abort', this.#end);
  }

  readonly #end = (): void => this.#wake?.();
}
