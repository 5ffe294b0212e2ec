/** Keeps the read model up to date with the ledger, in transactions of complete commands. */
import { setImmediate } from 'node:timers/promises';
import { IpledgerError } from '../../lib/errors.ts';
import { type EventBatch, PositionMismatch, subscribeEvents } from '../../lib/ledger-client/event-subscription.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { Event, WatchReply } from '../../proto/generated/ipledger.ts';
import type { ReadModel } from './read-model.ts';

export interface FollowOptions {
  readonly model: Pick<ReadModel, 'position' | 'damage' | 'notReadyReason' | 'recordLedgerHead' | 'append' | 'reset'>;
  /** The number of the first event to read. */
  readonly from: number;
  readonly watch: (fromSeq: number, signal: AbortSignal) => AsyncIterable<WatchReply>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** A transaction of this size takes some milliseconds, in which queries wait. */
const transactionEvents = 100;
/** While the model catches up it rejects queries. A larger transaction writes fewer pages of the file twice. */
const catchUpTransactionEvents = 2_000;

/** Follows the ledger until the signal is aborted. */
export async function followLedger({ model, from, watch, log, signal }: FollowOptions): Promise<void> {
  const pending = new PendingEvents(model, signal);
  await subscribeEvents({
    position: async () => {
      assertUndamaged(model);
      await pending.store();
      pending.beginStream();
      return model.position;
    },
    watch: (after) => watch(Math.max(from, (after?.seq ?? 0) + 1), signal),
    apply: async (batch) => {
      assertUndamaged(model);
      pending.add(batch);
      const isIdle = batch.events.length === 0;
      if (isIdle || !pending.shouldWait) await pending.store();
      model.recordLedgerHead(batch.head.seq);
    },
    onFailure: (thrown, breaks) => {
      const error = IpledgerError.from(thrown);
      const { seq } = model.position;
      const isOtherLedger = error instanceof PositionMismatch || error.code === 'POSITION_GONE';
      if (model.damage !== undefined) {
        log.error({ seq, reason: model.damage }, 'the file was damaged or replaced: rebuilding the read model');
        pending.clear();
        model.reset();
      } else if (isOtherLedger && seq > 0) {
        log.error({ seq, reason: error.message }, 'the ledger was rewound or replaced: rebuilding the read model');
        pending.clear();
        model.reset();
      } else log.warn({ code: error.code, reason: error.message, seq, breaks }, 'interrupted, reconnecting');
    },
    signal,
  });
}

/** Ends the stream, so that the next one begins at the first event. @throws IpledgerError LEDGER_DAMAGED */
function assertUndamaged({ damage }: FollowOptions['model']): void {
  if (damage !== undefined) throw new IpledgerError('LEDGER_DAMAGED', damage);
}

/** Received events that are not stored yet. While the model catches up, those of several replies are stored in one transaction. */
class PendingEvents {
  readonly #model: FollowOptions['model'];
  readonly #signal: AbortSignal;
  #events: Event[] = [];
  #epoch = 0;
  /** The highest position that a reply of the present stream has stated. Its first reply states the head of the ledger. */
  #headSeq = 0;

  constructor(model: FollowOptions['model'], signal: AbortSignal) {
    this.#model = model;
    this.#signal = signal;
  }

  /** The next events are of another stream, perhaps of a ledger that was rewound. */
  beginStream(): void {
    this.#headSeq = 0;
  }

  add({ events, head }: EventBatch): void {
    for (const event of events) this.#events.push(event);
    this.#epoch = head.epoch;
    this.#headSeq = Math.max(this.#headSeq, head.seq);
  }

  /** Whether to wait for more events: the model is behind, more events follow, and the transaction is not full. */
  get shouldWait(): boolean {
    const last = this.#events.at(-1);
    const isBehind = last !== undefined && last.seq < this.#headSeq;
    return isBehind && this.#events.length < this.#transactionSize && this.#model.notReadyReason !== undefined;
  }

  get #transactionSize(): number {
    return this.#model.notReadyReason === undefined ? transactionEvents : catchUpTransactionEvents;
  }

  async store(): Promise<void> {
    const events = this.#events;
    this.clear();
    for (const part of splitIntoTransactions(events, this.#transactionSize)) {
      if (this.#signal.aborted) return;
      const last = part.at(-1);
      if (last) this.#model.append(part, { epoch: this.#epoch, seq: last.seq, hash: last.hash });
      await setImmediate(); // lets queries run between transactions
    }
  }

  clear(): void {
    this.#events = [];
  }
}

/** Splits after complete commands. */
function* splitIntoTransactions(events: readonly Event[], size: number): Generator<readonly Event[]> {
  let first = 0;
  for (const [index, { part, parts }] of events.entries())
    if (part === parts && index + 1 - first >= size) {
      yield events.slice(first, index + 1);
      first = index + 1;
    }
  if (first < events.length) yield events.slice(first);
}
