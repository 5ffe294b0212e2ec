/**
 * Follows the events of Ledger.Watch from a position, checks their order and hash chain, and
 * reconnects after failures.
 */
import type { Event, Position, WatchReply } from '../../proto/generated/ipledger.ts';
import { IpledgerError } from '../errors.ts';
import { backoffMs, pause } from '../process/abortable.ts';

/** The checked content of a reply. */
export interface EventReply {
  /** Empty for a keepalive reply. */
  readonly events: readonly Event[];
  /** The position after these events, from which a subscriber continues. */
  readonly position: Position;
  /** The ledger's position in the reply, ahead of `position` while the subscriber catches up. */
  readonly head: Position;
}

export interface SubscriptionOptions {
  /**
   * Returns the position from which to continue, before each connection; undefined: the next event.
   * A position without a hash is not verified: only the number of the first event is checked, and
   * after seq 0 it may be any.
   */
  readonly position: () => Position | undefined | Promise<Position | undefined>;
  /** Opens a stream of the events after a position. */
  readonly watch: (after: Position | undefined) => AsyncIterable<WatchReply>;
  /** Whether `watch` may leave out events. Then only the order of events is checked. */
  readonly isFiltered?: boolean;
  /** Applies a reply. A throw counts as a failure of the stream. */
  readonly apply: (reply: EventReply) => void | Promise<void>;
  /** Called after each failure; a throw ends the subscription. @param failures in a row before */
  readonly onFailure: (error: unknown, failures: number) => void;
  readonly signal: AbortSignal;
}

/** Thrown if the reply does not continue the position: the ledger was rewound, or replaced. */
export class PositionMismatch extends IpledgerError {
  constructor({ seq, hash }: Pick<Position, 'seq' | 'hash'>) {
    super(
      'UNAVAILABLE',
      `the ledger does not continue from event ${seq} (${hash}): etcd was restored from a backup, or this is another ledger. Run: ipledger status`,
    );
  }
}

const initialBackoffMs = 200;
const maxBackoffMs = 5_000;

/** Follows the ledger until the signal is aborted. @throws what `onFailure` throws */
export async function subscribeEvents(options: SubscriptionOptions): Promise<void> {
  const { position, watch, isFiltered = false, apply, onFailure, signal } = options;
  for (let failures = 0; !signal.aborted;) {
    let hasProgress = false;
    try {
      let known = await position();
      let isFirst = true;
      for await (const reply of watch(known)) {
        const checked = checkReply(known, reply, { isFirst, isFiltered });
        await apply(checked);
        if (signal.aborted) return;
        // A keepalive as the first reply is no progress: an error may follow it.
        if (!isFirst || checked.events.length > 0) {
          hasProgress = true;
          failures = 0;
        }
        known = checked.position;
        isFirst = false;
      }
    } catch (error) {
      if (signal.aborted) return;
      onFailure(error, failures);
      hasProgress = false;
    }
    await pause(backoffMs(failures, initialBackoffMs, maxBackoffMs), signal);
    if (!hasProgress) failures += 1;
  }
}

/** @throws PositionMismatch; IpledgerError UNAVAILABLE when an event is missing */
function checkReply(
  known: Position | undefined,
  { position: head, events }: WatchReply,
  { isFirst, isFiltered }: { readonly isFirst: boolean; readonly isFiltered: boolean },
): EventReply {
  if (!head) throw new IpledgerError('BUG', 'a reply of Ledger.Watch has no position');
  if (known && known.hash !== '' && (head.seq < known.seq || (head.seq === known.seq && head.hash !== known.hash)))
    throw new PositionMismatch(known);
  const last = checkEvents(known ?? { seq: 0, hash: '' }, events, isFiltered);
  if (!isFiltered && events.length > 0) return { events, position: { ...head, ...last }, head };
  // The first reply of a stream states the head of the ledger. If it has no events, the events up
  // to the head will follow.
  const isAhead = known && (isFirst || !isFiltered) && events.length === 0;
  return { events, position: isAhead ? { ...head, seq: known.seq, hash: known.hash } : head, head };
}

/** Checks the events. Returns the number and hash of the last one. */
function checkEvents(
  known: Pick<Position, 'seq' | 'hash'>,
  events: readonly Event[],
  isFiltered: boolean,
): Pick<Position, 'seq' | 'hash'> {
  let { seq, hash } = known;
  for (const event of events) {
    const isNext = isFiltered ? event.seq > seq : seq === 0 || event.seq === seq + 1;
    if (!isNext)
      throw new IpledgerError(
        'UNAVAILABLE',
        `event ${event.seq} arrived after event ${seq}: events are missing or out of order; reconnecting`,
      );
    if (!isFiltered && hash !== '' && event.prev !== hash) throw new PositionMismatch({ seq, hash });
    ({ seq, hash } = event);
  }
  return { seq, hash };
}
