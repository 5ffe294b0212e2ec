/** Ledger.Watch: the events from a position on, then as they happen. */
import { pause, within } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import type { Seq } from '../domain/event.ts';
import { eventTypes, parseEvent, type StoredEvent } from '../ledger/chain.ts';
import { type EventFilter, everything, select } from '../ledger/filter.ts';
import type { Replica } from '../ledger/replica.ts';
import { type Allocator, reached } from './allocator.ts';
import { holdTo } from './freeze.ts';
import { eventMessage, positionOf, weightOfEvent } from './messages.ts';
import { mostPageBytes } from '../../../lib/serving/page-bytes.ts';
import { readAddress } from './read.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';

const signOfLifeMs = 5_000;
const eventsAReply = 500;
const mostBehindMs = 10_000;

/**
 * Streams whole commands; of those, the events that are wanted.
 * @throws IpledgerError INVALID_REQUEST; POSITION_GONE; LEDGER_FROZEN; LEDGER_DAMAGED; UNAVAILABLE when this replica cannot follow the log.
 */
export async function* watch(
  allocator: Allocator,
  request: api.WatchRequest,
  context: CallContext,
): AsyncGenerator<Input<api.WatchReply>> {
  const { replica } = allocator;
  const { signal } = context;
  const filter = wanted(request);
  await holdTo(allocator, request.after, context);
  let next = request.fromSeq || replica.head.seq + 1;
  // The log may be read further than this replica has come.
  let reachedHead = replica.head;
  const signOfLife = () => {
    refuseBehind(allocator);
    const head = reachedHead.seq > replica.head.seq ? reachedHead : replica.head;
    return { position: positionOf(head), events: [] };
  };
  if (next > replica.head.seq + 1) {
    await refuseBeyond(replica, next, signal);
    // No reply says less than the caller knows.
    await reached(replica, next - 1, within(mostBehindMs, signal));
  }
  yield signOfLife();
  while (!signal.aborted) {
    const bell = new AbortController();
    const stop = replica.onCommitted(() => bell.abort('rung'));
    try {
      for await (const events of eventsFrom(replica, next, signal)) {
        const last = events.at(-1);
        if (!last) continue;
        next = last.envelope.seq + 1;
        reachedHead = { ...reachedHead, seq: last.envelope.seq, hash: last.hash };
        const told = await select(replica.ledger, events, filter, signal);
        yield { position: positionOf(reachedHead), events: told.map(eventMessage) };
      }
      if (next > replica.head.seq) await pause(signOfLifeMs, AbortSignal.any([signal, bell.signal]));
    } finally {
      stop();
    }
    if (!bell.signal.aborted) yield signOfLife();
  }
}

const wanted = ({ subnet, namespace, pod, node, address, types }: api.WatchRequest): EventFilter => ({
  ...everything,
  subnet,
  namespace,
  pod,
  node,
  address: address === '' ? '' : readAddress(address),
  types: readTypes(types),
});

/** A type that is misspelt would be waited for in vain. */
function readTypes(types: readonly string[]): readonly string[] {
  const unknown = types.find((type) => !eventTypes.includes(type));
  if (unknown === undefined) return types;
  throw new IpledgerError('INVALID_REQUEST', `types: there is no ${unknown}: they are ${eventTypes.join(', ')}`);
}

/** A sign of life means that nothing has happened: a standby that cannot follow the log must not give one. */
function refuseBehind({ replica, follower }: Allocator): void {
  const behindMs = follower()?.behindMs ?? 0;
  if (behindMs > mostBehindMs)
    throw new IpledgerError(
      'UNAVAILABLE',
      `this replica knows the ledger up to event ${replica.head.seq} and could not read on for ${Math.floor(behindMs / 1_000)} s: go on at another`,
    );
}

/** A caller may know a little more than this replica; one that knows more than the ledger itself has to be told so. */
async function refuseBeyond(replica: Replica, from: Seq, signal: AbortSignal): Promise<void> {
  const head = await replica.ledger.head(signal);
  if (from > head.seq + 1)
    throw new IpledgerError(
      'POSITION_GONE',
      `event ${from} is beyond the ledger, whose head is ${head.seq}: was etcd restored from a backup? Begin with a new snapshot`,
    );
}

/** The committed events from a position on, whole commands at a time. */
async function* eventsFrom(replica: Replica, from: Seq, signal: AbortSignal): AsyncGenerator<readonly StoredEvent[]> {
  const recent = replica.recentFrom(from);
  if (recent) {
    yield* inReplies(recent);
    return;
  }
  const there = replica.head.seq;
  let expected = from;
  let pending: StoredEvent[] = [];
  for await (const lines of replica.ledger.read(from, signal)) {
    for (const { text } of lines) {
      const event = parseEvent(text);
      if (event.envelope.seq !== expected) throw notDense(from, expected, event.envelope.seq);
      expected++;
      pending.push(event);
    }
    const whole = pending.findLastIndex(({ envelope }) => envelope.part[0] === envelope.part[1]) + 1;
    yield* inReplies(pending.slice(0, whole));
    pending = pending.slice(whole);
  }
  if (expected <= there)
    throw new IpledgerError('LEDGER_DAMAGED', `the log ends before event ${expected}, which was there`);
}

function notDense(from: Seq, expected: Seq, found: Seq): IpledgerError {
  if (expected === from)
    return new IpledgerError(
      'POSITION_GONE',
      `event ${from} is not in the log (any more): the first live one is ${found}`,
    );
  return new IpledgerError('LEDGER_DAMAGED', `the log is not dense: event ${found} follows ${expected - 1}`);
}

/** Cut where a reply is full, but never inside a command, which is one transaction of etcd at most. */
function* inReplies(events: readonly StoredEvent[]): Generator<readonly StoredEvent[]> {
  let [first, bytes] = [0, 0];
  for (let index = 0; index < events.length; index++) {
    const event = events[index] as StoredEvent;
    const [part, parts] = event.envelope.part;
    bytes += weightOfEvent(event);
    if (part === parts && (index + 1 - first >= eventsAReply || bytes > mostPageBytes / 2)) {
      yield events.slice(first, index + 1);
      [first, bytes] = [index + 1, 0];
    }
  }
  if (first < events.length) yield events.slice(first);
}
