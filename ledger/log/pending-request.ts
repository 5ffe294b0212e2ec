/** A request to the writer and its stages: pending, queued, decided, proven. */
import type { IpledgerError } from '../../lib/errors.ts';
import type { Span } from '../../lib/tracing/span.ts';
import type { Command } from '../domain/commands/command.ts';
import type { Event } from '../domain/events/event.ts';
import type { State } from '../domain/state/state.ts';
import type { Head } from './chain/chain.ts';

/** A command; a query if `command` is absent. */
export interface PendingRequest<Answer> {
  /**
   * Creates the command for the ledger time `now` (milliseconds since 1970). The command's events
   * directly follow `head`, or are not appended. Returns undefined if there is nothing to do.
   */
  readonly command?: (now: number, head: Head) => Command | undefined;
  /** Reads the answer from the state after the command's events. May throw Refused. */
  readonly answer: (state: State, events: readonly Event[], now: number) => Answer;
  /** The authenticated identity of the caller. */
  readonly actor: string;
  /** Aborted when the caller disconnects or times out. Then the request is not decided. */
  readonly signal: Pick<AbortSignal, 'aborted'>;
  /** The deadline of the caller, on the clock of performance.now(). Absent for none. */
  readonly expiresAt?: number | undefined;
  /** The span of a traced call, to which the writer adds the spans of decision and append. */
  readonly span?: Span | undefined;
}

/** An answer, and the head at which it holds. */
export interface ProvenAnswer<Answer> {
  readonly answer: Answer;
  readonly head: Head;
}

/** A request that waits to be decided, possibly again after a failed append. */
export interface QueuedRequest {
  readonly request: PendingRequest<unknown>;
  readonly resolve: (proven: ProvenAnswer<unknown>) => void;
  readonly reject: (error: IpledgerError) => void;
}

/** A decided request that waits for the proof of its batch. */
export interface DecidedRequest {
  readonly queued: QueuedRequest;
  /** Whether the request has events. */
  readonly writes: boolean;
  /** Whether its events may be appended while the ledger is frozen. */
  readonly isAllowedWhileFrozen: boolean;
  /** The ledger time until which its command is valid. */
  readonly deadline?: number | undefined;
  /** The time that reading the answer from the state took. Absent for a refusal. */
  readonly readMs?: number;
  /** Resolves or rejects the request. */
  readonly settle: () => void;
}
