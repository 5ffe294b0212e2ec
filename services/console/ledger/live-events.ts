/**
 * The newest events, of one subscription for all browsers. A browser that was away for a moment
 * continues from the kept events.
 */
import { EventEmitter } from 'node:events';
import { IpledgerError, isPositionGone } from '../../../lib/errors.ts';
import { PositionMismatch, subscribeEvents } from '../../../lib/ledger-client/event-subscription.ts';
import type { LedgerClient } from '../../../lib/ledger-client/ledger-client.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { LedgerService, type Position } from '../../../proto/generated/ipledger.ts';
import type { EventRow } from '../api/event.ts';
import { eventRow } from '../rows/event-row.ts';

/** The number of kept events. Each takes about two kilobytes, with its frame. */
const maxKept = 5_000;
const warnAfterFailures = 3;

export class LiveEvents {
  readonly #kept: EventRow[] = [];
  /** The event after which all events are kept. */
  #keptAfter = 0;
  #position: Position | undefined;
  readonly #arrived = new EventEmitter<{ rows: [readonly EventRow[]]; lost: [] }>().setMaxListeners(0);

  /** The last event that has arrived; undefined before the first answer. */
  get position(): Position | undefined {
    return this.#position;
  }

  /** Calls `listen` for new events, until the returned function is called. */
  subscribe(listen: (rows: readonly EventRow[]) => void): () => void {
    this.#arrived.on('rows', listen);
    return () => this.#arrived.off('rows', listen);
  }

  /** Calls `listen` when the ledger was restored, or some events were missed. */
  subscribeLost(listen: () => void): () => void {
    this.#arrived.on('lost', listen);
    return () => this.#arrived.off('lost', listen);
  }

  /** Returns the kept events after `seq`. @throws IpledgerError POSITION_GONE if some are gone */
  after(seq: number): readonly EventRow[] {
    if (seq < this.#keptAfter)
      throw new IpledgerError('POSITION_GONE', 'too many events happened since: load the list again');
    return this.#kept.filter((row) => row.seq > seq);
  }

  /** Follows the ledger until the signal is aborted. */
  follow(allocator: LedgerClient, log: Logger, signal: AbortSignal): Promise<void> {
    return subscribeEvents({
      position: () => this.#position,
      watch: (after) => allocator.stream(LedgerService.watch, { fromSeq: after ? after.seq + 1 : 0 }, signal),
      apply: ({ events, position }) => {
        if (!this.#position) this.#keptAfter = position.seq - events.length;
        this.#position = position;
        if (events.length > 0) this.#add(events.map(eventRow));
      },
      onFailure: (thrown, failures) => {
        const { code, message } = IpledgerError.from(thrown);
        const level = failures < warnAfterFailures ? 'info' : 'warn';
        log[level]({ code, reason: message, failures }, 'the event stream was interrupted, reconnecting');
        if (thrown instanceof PositionMismatch || isPositionGone(thrown)) this.#restart();
      },
      signal,
    });
  }

  #add(rows: readonly EventRow[]): void {
    this.#kept.push(...rows);
    const dropped = this.#kept.splice(0, Math.max(0, this.#kept.length - maxKept)).at(-1);
    if (dropped) this.#keptAfter = dropped.seq;
    this.#arrived.emit('rows', rows);
  }

  /**
   * Drops the kept events after a restore of etcd, and when events that were missed have been
   * dropped.
   */
  #restart(): void {
    this.#position = undefined;
    this.#kept.length = 0;
    this.#arrived.emit('lost');
  }
}
