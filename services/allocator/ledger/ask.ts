/** What is asked of the writer, and what it makes of that on the way to an answer. */
import type { IpledgerError } from '../../../lib/errors.ts';
import type { Command } from '../domain/command.ts';
import type { Event } from '../domain/event.ts';
import type { State } from '../domain/state.ts';
import type { Head } from './chain.ts';

/** A command built for a moment, or (command: undefined) a question. */
export interface Ask<Answer> {
  /**
   * The command at the ledger's time (milliseconds since 1970), behind this head, which its events follow at once or not at all;
   * undefined where there is nothing to do. Absent for a question.
   */
  readonly command?: (now: number, behind: Head) => Command | undefined;
  /** The answer, from the state with the command's events in it. May throw Refused. */
  readonly answer: (state: State, events: readonly Event[], now: number) => Answer;
  /** The authenticated identity. */
  readonly actor: string;
  /** The caller is gone or its time is up: not decided any more. */
  readonly signal: AbortSignal;
}

/** An answer, and the place in the ledger at which it is true. */
export interface Proven<Answer> {
  readonly answer: Answer;
  readonly head: Head;
}

/** Waiting to be decided, perhaps not for the first time. */
export interface Queued {
  readonly ask: Ask<unknown>;
  readonly resolve: (proven: Proven<unknown>) => void;
  readonly reject: (error: IpledgerError) => void;
}

/** Decided, and waiting for its proof. */
export interface Decided {
  readonly queued: Queued;
  /** Whether it comes to any event. */
  readonly writes: boolean;
  /** Whether what it writes may be written while the ledger is frozen. */
  readonly evenFrozen: boolean;
  /** Gives the answer. */
  readonly settle: () => void;
}
