/** The Ledger service: the record itself. */
import { pause, within } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Input } from '../../../proto/codec.ts';
import { type LedgerService } from '../../../proto/ipledger.ts';
import type * as api from '../../../proto/ipledger.ts';
import { canonicalAddress } from '../domain/address.ts';
import type { Seq } from '../domain/event.ts';
import { claimOf, type State } from '../domain/state.ts';
import { parseEvent, type StoredEvent } from '../ledger/chain.ts';
import type { Replica } from '../ledger/replica.ts';
import { type Allocator, question, reached } from './allocator.ts';
import { eventMessage, positionOf } from './messages.ts';
import { limited, pageSize, required } from './read.ts';
import type { CallContext, Handlers } from '../../../lib/serving/serve.ts';

const signOfLifeMs = 5_000;
const eventsAReply = 500;
const mostBehindMs = 10_000;

/** Everything of Ledger that is served; the rest answers UNIMPLEMENTED. */
export function ledgerHandlers(allocator: Allocator): Handlers<typeof LedgerService> {
  return {
    watch: (request, context) => watch(allocator, request, context),
    history: (request, context) => history(allocator, request, context),
  };
}

async function* watch(
  allocator: Allocator,
  request: api.WatchRequest,
  { signal }: CallContext,
): AsyncGenerator<Input<api.WatchReply>> {
  const { replica } = allocator;
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
        const wanted = events.filter(({ envelope }) => request.subnet === '' || envelope.subnet === request.subnet);
        yield { position: positionOf(reachedHead), events: wanted.map(eventMessage) };
      }
      if (next > replica.head.seq) await pause(signOfLifeMs, AbortSignal.any([signal, bell.signal]));
    } finally {
      stop();
    }
    if (!bell.signal.aborted) yield signOfLife();
  }
}

/** Who hears signs of life takes it that nothing has happened: a standby that cannot follow the log gives none. */
function refuseBehind({ replica, follower }: Allocator): void {
  const behindMs = follower()?.behindMs ?? 0;
  if (behindMs > mostBehindMs)
    throw new IpledgerError(
      'UNAVAILABLE',
      `this replica knows the ledger up to event ${replica.head.seq} and could not read on for ${Math.floor(behindMs / 1_000)} s: go on at another`,
    );
}

/** This replica may be behind, by little; whoever knows more than the ledger itself has to be told so. */
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

/** Cut where a reply is full, but never inside a command. */
function* inReplies(events: readonly StoredEvent[]): Generator<readonly StoredEvent[]> {
  let first = 0;
  for (let index = 0; index < events.length; index++) {
    const [part, parts] = (events[index] as StoredEvent).envelope.part;
    if (part === parts && index + 1 - first >= eventsAReply) {
      yield events.slice(first, index + 1);
      first = index + 1;
    }
  }
  if (first < events.length) yield events.slice(first);
}

/** Where a walk along `before` stands, by subnet. */
type Cursors = Map<string, Seq>;

async function history(allocator: Allocator, request: api.HistoryRequest, context: CallContext) {
  const address = canonicalAddress(required('address', request.address));
  if (!address)
    throw new IpledgerError(
      'INVALID_REQUEST',
      `failed to parse IP ${request.address}: write one address without a mask`,
    );
  const subnet = limited('subnet', request.subnet);
  const { answer: newest, head } = await question(allocator, context, (state) => lastEvents(state, address, subnet));
  if (newest.size === 0)
    throw new IpledgerError(
      'ADDRESS_UNKNOWN',
      `${address} was never used${subnet ? ` in subnet ${subnet}` : ' in any subnet'}`,
    );
  const cursors = request.pageToken === '' ? newest : readCursors(request.pageToken);
  const events = await walk(
    allocator.replica,
    cursors,
    { address, most: pageSize(request.pageSize, 100, 1_000) },
    context.signal,
  );
  return { position: positionOf(head), events: events.map(eventMessage), nextPageToken: writeCursors(cursors) };
}

function lastEvents(state: State, address: string, subnet: string): Cursors {
  const subnets = subnet === '' ? [...state.claims.keys()] : [subnet];
  return new Map(
    subnets.flatMap((name) => {
      const last = claimOf(state, name, address)?.last;
      return last ? [[name, last] as const] : [];
    }),
  );
}

/** Newest first over all subnets; one read an event. Leaves the cursors at what comes next. */
async function walk(
  replica: Replica,
  cursors: Cursors,
  { address, most }: { address: string; most: number },
  signal: AbortSignal,
): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  while (cursors.size > 0 && events.length < most) {
    const [subnet, seq] = [...cursors].reduce((newest, cursor) => (cursor[1] > newest[1] ? cursor : newest));
    const [line] = await replica.ledger.readEach([seq], signal);
    if (!line)
      throw new IpledgerError(
        'LEDGER_DAMAGED',
        `event ${seq}, which the history of ${address} names, is not in the log`,
      );
    const event = parseEvent(line.text);
    events.push(event);
    const before = event.envelope.before[address] ?? 0;
    if (before > 0) cursors.set(subnet, before);
    else cursors.delete(subnet);
  }
  return events;
}

const writeCursors = (cursors: Cursors): string => [...cursors].map(([subnet, seq]) => `${subnet}=${seq}`).join(',');

function readCursors(token: string): Cursors {
  return new Map(
    token.split(',').map((part) => {
      const [subnet, seq] = part.split('=');
      if (!subnet || !/^[1-9]\d{0,15}$/.test(seq ?? ''))
        throw new IpledgerError('INVALID_REQUEST', `page_token "${token}" is not one that a reply gave`);
      return [subnet, Number(seq)];
    }),
  );
}
