/**
 * Follows the ledger: the state at a position, then every command after it, in order, none missing and none by halves.
 *
 * The snapshot is read in pages, each at a position of its own; what follows is replayed from the position of the first.
 * So a consumer meets some events whose effect it has seen already: facts name the allocation they are about, and taking
 * one in twice changes nothing.
 */
import { backoffMs, pause } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import type { Position, WatchReply } from '../../../proto/ipledger.ts';
import type { Allocator } from './allocator.ts';
import {
  type Fact,
  factsOf,
  type Holding,
  holdingOf,
  type PoolInForce,
  type Reserved,
  reservedOf,
  sourceOf,
  type SubnetInForce,
  UnknownEvent,
} from './facts.ts';

export interface Snapshot {
  readonly seq: number;
  readonly holdings: readonly Holding[];
  readonly subnets: readonly SubnetInForce[];
  readonly pools: readonly PoolInForce[];
  readonly reservations: readonly Reserved[];
}

/** Who wants to know. Called in order and on the spot; must be quick and must not throw. */
export interface Reader {
  /** Replaces all that was said before: at the start, and when the ledger could not be followed without a gap. */
  snapshot(snapshot: Snapshot): void;
  /** What one command said; `seq` is the position after it. */
  facts(facts: readonly Fact[], seq: number): void;
}

export interface FollowOptions {
  readonly allocator: Pick<Allocator, 'list' | 'listPools' | 'listReservations' | 'listSubnets' | 'watch'>;
  readonly readers: readonly Reader[];
  /** Called at each reply, signs of life included. */
  readonly onHeard?: () => void;
  /** What was known of the ledger before: nothing is believed that contradicts it. */
  readonly remembered?: Position | undefined;
  /** Told of each position that was reached: to be remembered. */
  readonly onPosition?: (position: Position) => void;
  /** Told why the ledger can't be believed, again and again; undefined once it can. */
  readonly onFrozen?: (sentence: string | undefined) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const firstBackoffMs = 200;
const mostBackoffMs = 5_000;
const mostPages = 100_000;

/** After how many breaks in a row one is worth a warning. */
const patience = 3;

/**
 * Follows until the signal is aborted; resolves then. Whatever breaks, it goes on where it was. A ledger that lacks what is
 * remembered of it was rewound: of that nothing is taken in, until an operator has let it go on in a new epoch.
 * @throws UnknownEvent, which no retry can mend.
 */
export async function follow(options: FollowOptions): Promise<void> {
  const { allocator, readers, onHeard, onPosition, onFrozen, log, signal } = options;
  let { remembered } = options;
  let at: Position | undefined;
  for (let breaks = 0; !signal.aborted; breaks++) {
    try {
      if (!at) {
        if (remembered) await holdTo(allocator, remembered, signal);
        remembered = undefined;
        const { snapshot, position } = await takeSnapshot(allocator, signal);
        at = position;
        for (const reader of readers) reader.snapshot(snapshot);
        log.info({ seq: at.seq, holdings: snapshot.holdings.length }, 'ledger: snapshot taken');
      }
      for await (const reply of allocator.watch(at, signal)) {
        at = takeReply(at, reply, readers);
        breaks = 0;
        onFrozen?.(undefined);
        onPosition?.(at);
        onHeard?.();
      }
    } catch (thrown) {
      if (signal.aborted) return;
      if (thrown instanceof UnknownEvent) throw thrown;
      const error = IpledgerError.from(thrown);
      if (error.code === 'LEDGER_FROZEN') onFrozen?.(error.message);
      if (error.code === 'POSITION_GONE') at = remembered = undefined;
      log[breaks < patience ? 'info' : 'warn'](
        { code: error.code, reason: error.message, breaks },
        'ledger: interrupted, going on',
      );
    }
    await pause(backoffMs(breaks, firstBackoffMs, mostBackoffMs), signal);
  }
}

/** @throws IpledgerError LEDGER_FROZEN; POSITION_GONE when it was restored since, which is as good. */
async function holdTo(allocator: FollowOptions['allocator'], known: Position, signal: AbortSignal): Promise<void> {
  const enough = new AbortController();
  try {
    for await (const _ of allocator.watch(known, AbortSignal.any([signal, enough.signal]))) return;
  } finally {
    enough.abort();
  }
}

async function takeSnapshot(
  allocator: FollowOptions['allocator'],
  signal: AbortSignal,
): Promise<{ snapshot: Snapshot; position: Position }> {
  const holdings = new Map<number, Holding>();
  const position = await eachPage(
    (token) => allocator.list(token, signal),
    ({ allocations }) => {
      for (const allocation of allocations) holdings.set(allocation.seq, holdingOf(allocation));
    },
  );
  const { subnets } = await allocator.listSubnets(signal);
  const { pools } = await allocator.listPools(signal);
  const reservations = new Map<string, Reserved>();
  await eachPage(
    (token) => allocator.listReservations(token, signal),
    ({ records }) => {
      for (const record of records) reservations.set(`${record.subnet}/${record.address}`, reservedOf(record));
    },
  );
  const snapshot = {
    seq: position.seq,
    holdings: [...holdings.values()],
    subnets: subnets.flatMap(({ name, spec, source }) => (spec ? [{ name, spec, source: sourceOf(source) }] : [])),
    pools: pools.flatMap(({ name, spec, source }) => (spec ? [{ name, spec, source: sourceOf(source) }] : [])),
    reservations: [...reservations.values()],
  };
  return { snapshot, position };
}

/** Reads a list to its end; gives the position of its first page. */
async function eachPage<Page extends { readonly position?: Position; readonly nextPageToken: string }>(
  read: (token: string) => Promise<Page>,
  take: (page: Page) => void,
): Promise<Position> {
  let position: Position | undefined;
  let token = '';
  for (let page = 0; page < mostPages; page++) {
    const reply = await read(token);
    position ??= positionOf(reply.position);
    take(reply);
    token = reply.nextPageToken;
    if (token === '') return position;
  }
  throw new IpledgerError('OVERLOADED', `a list of more than ${mostPages} pages`);
}

/**
 * The position after the reply.
 * @throws IpledgerError POSITION_GONE when the ledger goes on in another epoch; UNAVAILABLE when it does not follow on `from`: the
 *   ledger itself is asked then whether it was rewound.
 */
function takeReply(from: Position, { position, events }: WatchReply, readers: readonly Reader[]): Position {
  const head = positionOf(position);
  if (head.epoch !== from.epoch)
    throw new IpledgerError('POSITION_GONE', `the ledger is in epoch ${head.epoch} now, and was in ${from.epoch}`);
  const replaced = head.seq === from.seq && head.hash !== from.hash;
  if (head.seq < from.seq || replaced) throw notFollowing(from);
  let command: Fact[] = [];
  let { seq, hash } = from;
  for (const event of events) {
    if (event.seq !== seq + 1) throw new IpledgerError('UNAVAILABLE', `event ${event.seq} arrived after event ${seq}`);
    if (event.prev !== hash) throw notFollowing({ seq, hash });
    ({ seq, hash } = event);
    command.push(...factsOf(event));
    if (event.part < event.parts) continue;
    for (const reader of readers) reader.facts(command, seq);
    command = [];
  }
  return { epoch: from.epoch, seq, hash };
}

function notFollowing({ seq, hash }: Pick<Position, 'seq' | 'hash'>): IpledgerError {
  return new IpledgerError('UNAVAILABLE', `what the ledger says does not follow on event ${seq} (${hash})`);
}

function positionOf(position: Position | undefined): Position {
  if (!position) throw new IpledgerError('BUG', 'a reply without position');
  return position;
}
