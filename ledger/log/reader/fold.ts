/**
 * Computes a past state by folding the log up to a position. It uses the same `evolve` as the
 * writer, so the result is the state that past decisions saw.
 *
 * The fold reads the log in pages and keeps only one state. It yields to the event loop regularly,
 * so that folding millions of events does not delay the writer.
 */
import { IpledgerError, errorMessage } from '../../../lib/errors.ts';
import { TurnBudget } from '../../../lib/process/turn-budget.ts';
import type { Seq } from '../../domain/values/ledger.ts';
import { UndoLog } from '../../domain/state/undo-log.ts';
import { evolve } from '../../domain/events/registry.ts';
import { initialState, type State } from '../../domain/state/state.ts';
import {
  emptyHead,
  type Envelope,
  advanceHead,
  type Head,
  type StoredEvent,
  withReadableData,
} from '../chain/chain.ts';
import type { Ledger } from '../store/ledger.ts';
import { parseLine } from '../store/stored-line.ts';

/** Two folds can run at the same time, so other work waits for both in each turn. */
const msPerTurn = 3;

/** Where to stop: after a command, after all events up to a time, or at the end of the log. */
export type FoldEnd = { readonly seq: Seq } | { readonly at: number } | 'end';

/** A state, and the head at which it holds. */
export interface StateAtHead {
  readonly state: State;
  readonly head: Head;
}

export interface FoldOptions {
  readonly signal: AbortSignal;
  /** Called with the events of each command just before they are applied. */
  readonly onCommand?: (events: readonly StoredEvent[]) => void;
}

/** The state before an event. */
export interface StateBeforeEvent extends StateAtHead {
  /** The previous event of the same command; undefined for the first. */
  readonly openCommand: Envelope | undefined;
}

export type EventObserver = (past: StateBeforeEvent, event: StoredEvent) => void;

export const initialStateAtHead = (): StateAtHead => ({ state: initialState(), head: emptyHead });

/**
 * Folds the log from a position (the beginning, or the end state of a segment) to a later one.
 * Changes the given state.
 * @throws IpledgerError POSITION_GONE for an event beyond the log; LEDGER_DAMAGED if the log has a
 * gap, a broken chain or an unreadable event; errors of the ledger; AbortError if the signal is
 * aborted.
 */
export async function fold(
  ledger: Ledger,
  from: StateAtHead,
  until: FoldEnd,
  options: FoldOptions,
): Promise<StateAtHead> {
  const { state } = from;
  let { head } = from;
  const { signal, onCommand } = options;
  if (hasReached(head, until)) return from;
  let pending: StoredEvent[] = [];
  const turn = new TurnBudget(msPerTurn);
  for await (const lines of ledger.read(head.seq + 1, signal)) {
    for (const line of lines) {
      const event = parseLine(line);
      if (pending.length === 0 && isBeyond(event, until)) return { state, head };
      pending.push(event);
      if (turn.isSpent) await turn.nextTurn(signal);
      const [part, parts] = event.envelope.part;
      if (part < parts) continue;
      onCommand?.(pending);
      head = applyCommand({ state, head }, pending);
      pending = [];
      if (hasReached(head, until)) return { state, head };
    }
  }
  if (pending.length > 0)
    throw new IpledgerError('LEDGER_DAMAGED', `the log ends inside the command of event ${head.seq + 1}`);
  if (typeof until === 'object' && 'seq' in until)
    throw new IpledgerError(
      'POSITION_GONE',
      `event ${until.seq} is beyond the ledger, whose last event is ${head.seq}`,
    );
  return { state, head };
}

const hasReached = (head: Head, until: FoldEnd): boolean =>
  typeof until === 'object' && 'seq' in until && head.seq >= until.seq;

const isBeyond = ({ sequenced }: StoredEvent, until: FoldEnd): boolean =>
  typeof until === 'object' && 'at' in until && sequenced.at > until.at;

/**
 * Applies the events of one command: all, or none if one of them does not follow the chain. Returns
 * the head after them.
 * @param observe called before each event, with the state and the head before it.
 * @throws IpledgerError LEDGER_DAMAGED
 */
export function applyCommand(from: StateAtHead, events: readonly StoredEvent[], observe?: EventObserver): Head {
  const undoLog = new UndoLog();
  let { head } = from;
  try {
    for (const [index, event] of events.entries()) {
      observe?.({ head, state: from.state, openCommand: events[index - 1]?.envelope }, event);
      head = advanceHead(head, event);
      withReadableData(event.envelope, () => evolve(from.state, event.sequenced, undoLog));
    }
    return head;
  } catch (error) {
    undoLog.rollBack();
    const message = errorMessage(error);
    throw new IpledgerError('LEDGER_DAMAGED', message, { cause: error });
  }
}
