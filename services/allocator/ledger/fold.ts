/**
 * The state as it was at a place in the log, made again by reading the log up to there: the same events through the same
 * `evolve` as everywhere, so what is said of the past is what was decided against then.
 *
 * The log is read page by page and forgotten again: what stays is one state. Between pieces of work everybody else in the
 * process has a turn, so a fold of millions of events makes no writer late.
 */
import { setImmediate } from 'node:timers/promises';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../domain/event.ts';
import { Journal } from '../domain/journal.ts';
import { evolve } from '../domain/evolve.ts';
import { initialState, type State } from '../domain/state.ts';
import { emptyHead, type Envelope, follow, type Head, parseEvent, type StoredEvent } from './chain.ts';
import type { Ledger } from './ledger.ts';

/** A few milliseconds' worth. */
const eventsATurn = 200;

/** Where to stop: right after an event (with all others of its command), after all events up to an instant, or at the log's present end. */
export type Until = { readonly seq: Seq } | { readonly at: number } | 'end';

/** A state, and the head at which it is true. */
export interface Place {
  readonly state: State;
  readonly head: Head;
}

export interface FoldOptions {
  readonly signal: AbortSignal;
  /** Told of each command's events right before they are applied, while the state is still that before them. */
  readonly before?: (events: readonly StoredEvent[]) => void;
}

/** What came before an event. */
export interface Past extends Place {
  /** The event before, unless it ended its command. */
  readonly unfinished: Envelope | undefined;
}

export type Look = (past: Past, event: StoredEvent) => void;

/** Before the first event. */
export const beginning = (): Place => ({ state: initialState(), head: emptyHead });

/**
 * Goes on from a place (the beginning, or the state at the end of a sealed stretch), whose state it changes, up to another.
 * @throws IpledgerError POSITION_GONE for an event beyond the log; LEDGER_DAMAGED where the log is not dense, not chained or not
 *   readable; what the ledger throws; AbortError when the signal is aborted.
 */
export async function fold(ledger: Ledger, from: Place, until: Until, options: FoldOptions): Promise<Place> {
  const { state } = from;
  let { head } = from;
  const { signal, before } = options;
  if (isThere(head, until)) return from;
  let pending: StoredEvent[] = [];
  let turn = 0;
  for await (const lines of ledger.read(head.seq + 1, signal)) {
    for (const { text } of lines) {
      const event = parseEvent(text);
      if (pending.length === 0 && isBeyond(event, until)) return { state, head };
      pending.push(event);
      if (++turn % eventsATurn === 0) await setImmediate(undefined, { signal });
      const [part, parts] = event.envelope.part;
      if (part < parts) continue;
      before?.(pending);
      head = applyCommand({ state, head }, pending);
      pending = [];
      if (isThere(head, until)) return { state, head };
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

const isThere = (head: Head, until: Until): boolean =>
  typeof until === 'object' && 'seq' in until && head.seq >= until.seq;

const isBeyond = ({ sequenced }: StoredEvent, until: Until): boolean =>
  typeof until === 'object' && 'at' in until && sequenced.at > until.at;

/**
 * Applies the events of one command: all, or (when one of them does not follow) none. Gives the head behind them.
 * @param look told of each event, while state and head are those before it.
 * @throws IpledgerError LEDGER_DAMAGED
 */
export function applyCommand(place: Place, events: readonly StoredEvent[], look?: Look): Head {
  const journal = new Journal();
  let { head } = place;
  try {
    for (const [index, event] of events.entries()) {
      look?.({ head, state: place.state, unfinished: events[index - 1]?.envelope }, event);
      head = follow(head, event);
      evolve(place.state, event.sequenced, journal);
    }
    return head;
  } catch (error) {
    journal.rollBack();
    const message = error instanceof Error ? error.message : String(error);
    throw new IpledgerError('LEDGER_DAMAGED', message, { cause: error });
  }
}
