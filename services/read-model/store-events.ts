/** Stores the events of the ledger in the read model, in transactions of complete commands. */
import { setImmediate } from 'node:timers/promises';
import { IpledgerError } from '../../lib/errors.ts';
import { PositionMismatch, subscribeEvents } from '../../lib/ledger-client/event-subscription.ts';
import type { Logger } from '../../lib/process/log.ts';
import type { Event, WatchReply } from '../../proto/generated/ipledger.ts';
import type { ReadModel } from './read-model.ts';
import { emptyPosition } from './store/database-file.ts';
import type { StartState } from './store/start-state.ts';

export interface StoreOptions {
  readonly model: Pick<
    ReadModel,
    'position' | 'damage' | 'notReadyReason' | 'recordLedgerHead' | 'append' | 'beginWith' | 'reset'
  >;
  /** Returns the first event to read if the model is empty. */
  readonly firstEvent: () => Promise<number>;
  /**
   * Reads the state after an event, with which an empty model begins if earlier events were
   * dropped.
   */
  readonly readState: (seq: number) => Promise<StartState>;
  readonly watch: (fromSeq: number, signal: AbortSignal) => AsyncIterable<WatchReply>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The events of a transaction: it takes some milliseconds, in which queries wait. */
const transactionEvents = 100;
/** Larger during catch-up, when queries are rejected anyway: fewer pages are written twice. */
const catchUpTransactionEvents = 2_000;

/** Follows the ledger until the signal is aborted. */
export async function storeEvents(options: StoreOptions): Promise<void> {
  const { model, watch, log, signal } = options;
  /**
   * Received events that are not stored yet. During catch-up, the events of several replies are
   * stored in one transaction.
   */
  let pending: Event[] = [];
  /** The head in the last reply. Its epoch and ledger are those of the events. */
  let head = emptyPosition;
  /** The highest position in a reply of the stream. The first reply states the ledger's head. */
  let headSeq = 0;

  const transactionSize = (): number =>
    model.notReadyReason === undefined ? transactionEvents : catchUpTransactionEvents;
  /** Whether the transaction must wait for more events. */
  const mustWait = (): boolean => {
    const isBehind = (pending.at(-1)?.seq ?? Infinity) < headSeq;
    return isBehind && model.notReadyReason !== undefined && pending.length < catchUpTransactionEvents;
  };
  const store = async (): Promise<void> => {
    const events = pending;
    pending = [];
    for (const part of splitIntoTransactions(events, transactionSize())) {
      if (signal.aborted) return;
      const last = part.at(-1);
      if (last) model.append(part, { ...head, seq: last.seq, hash: last.hash });
      await setImmediate(); // lets queries run between transactions
    }
  };
  await subscribeEvents({
    position: async () => {
      assertUndamaged(model);
      await store();
      // The previous stream may have been of a ledger that was rewound since.
      headSeq = 0;
      return model.position.seq > 0 ? model.position : { ...emptyPosition, seq: await beginStore(options) };
    },
    watch: (after) => watch((after?.seq ?? 0) + 1, signal),
    apply: async ({ events, head: reached }) => {
      assertUndamaged(model);
      for (const event of events) pending.push(event);
      head = reached;
      headSeq = Math.max(headSeq, head.seq);
      if (events.length === 0 || !mustWait()) await store();
      model.recordLedgerHead(head.seq);
    },
    onFailure: (thrown, failures) => {
      const error = IpledgerError.from(thrown);
      const { damage, position } = model;
      const { seq } = position;
      const isOtherLedger = seq > 0 && (error instanceof PositionMismatch || error.code === 'POSITION_GONE');
      if (damage === undefined && !isOtherLedger)
        return log.warn({ code: error.code, reason: error.message, seq, failures }, 'interrupted, reconnecting');
      const what = damage === undefined ? 'the ledger was rewound or replaced' : 'the file was damaged or replaced';
      log.error({ seq, reason: damage ?? error.message }, `${what}: rebuilding the read model`);
      pending = [];
      model.reset();
    },
    signal,
  });
}

/**
 * Returns the event before the first one. Without the state after it, only the maps are missing.
 */
async function beginStore({ model, firstEvent, readState, log }: StoreOptions): Promise<number> {
  const before = (await firstEvent()) - 1;
  if (before === 0) return before;
  try {
    model.beginWith(await readState(before));
  } catch (thrown) {
    const { code, message } = IpledgerError.from(thrown);
    log.warn({ code, reason: message, seq: before }, 'no state before the first event: there are no address maps');
  }
  return before;
}

/**
 * Throws if the store is damaged. The error ends the stream of events, and the next stream begins
 * at the first event.
 * @throws IpledgerError LEDGER_DAMAGED
 */
function assertUndamaged({ damage }: StoreOptions['model']): void {
  if (damage !== undefined) throw new IpledgerError('LEDGER_DAMAGED', damage);
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
