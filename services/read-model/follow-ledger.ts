/** Keeps the read model up to date with the ledger, in transactions of complete commands. */
import { setImmediate } from 'node:timers/promises';
import { IpledgerError } from '../../lib/errors.ts';
import { type EventBatch, PositionMismatch, subscribeEvents } from '../../lib/ledger-client/event-subscription.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { Event, WatchReply } from '../../proto/generated/ipledger.ts';
import type { ReadModel } from './read-model.ts';

export interface FollowOptions {
  readonly model: Pick<ReadModel, 'position' | 'notReadyReason' | 'recordLedgerHead' | 'append' | 'reset'>;
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
  await subscribeEvents({
    position: () => model.position,
    watch: (after) => watch(Math.max(from, (after?.seq ?? 0) + 1), signal),
    apply: (batch) => append(model, batch, signal),
    onFailure: (thrown, breaks) => {
      const error = IpledgerError.from(thrown);
      const { seq } = model.position;
      const isOtherLedger = error instanceof PositionMismatch || error.code === 'POSITION_GONE';
      if (isOtherLedger && seq > 0) {
        log.error({ seq, reason: error.message }, 'the ledger was rewound or replaced: rebuilding the read model');
        model.reset();
      } else log.warn({ code: error.code, reason: error.message, seq, breaks }, 'interrupted, reconnecting');
    },
    signal,
  });
}

async function append(model: FollowOptions['model'], { events, head }: EventBatch, signal: AbortSignal): Promise<void> {
  const size = model.notReadyReason === undefined ? transactionEvents : catchUpTransactionEvents;
  for (const part of splitIntoTransactions(events, size)) {
    if (signal.aborted) return;
    const last = part.at(-1);
    if (last) model.append(part, { epoch: head.epoch, seq: last.seq, hash: last.hash });
    await setImmediate(); // lets queries run between transactions
  }
  model.recordLedgerHead(head.seq);
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
