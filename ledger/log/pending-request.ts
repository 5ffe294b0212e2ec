/** A request to the writer, and its stages: pending, queued, decided, proven. */
import type { IpledgerError } from '../../lib/errors.ts';
import type { Span } from '../../lib/tracing/span.ts';
import type { Command } from '../domain/commands/command.ts';
import type { Event } from '../domain/events/event.ts';
import type { State } from '../domain/state/state.ts';
import type { Head } from './chain/chain.ts';

/** A command or, without `command`, a query. */
export interface PendingRequest<Answer> {
  /**
   * Creates the command for the ledger time `now` (milliseconds since 1970). Its events follow this
   * head immediately, or are not appended. Returns undefined when there is nothing to do. Absent
   * for a query.
   */
  readonly command?: (now: number, head: Head) => Command | undefined;
  /** The answer, from the state with the command's events in it. May throw Refused. */
  readonly answer: (state: State, events: readonly Event[], now: number) => Answer;
  /** The authenticated identity of the caller. */
  readonly actor: string;
  /** Aborted when the caller disconnects or its deadline passes: then nothing is decided. */
  readonly signal: Pick<AbortSignal, 'aborted'>;
  /** The deadline of the caller, on the clock of performance.now(). Absent: it has none. */
  readonly expiresAt?: number | undefined;
  /** The span of the call, if it is traced: the writer adds spans of decision and append. */
  readonly span?: Span | undefined;
}

/** An answer, and the head at which it is true. */
export interface ProvenAnswer<Answer> {
  readonly answer: Answer;
  readonly head: Head;
}

/** A request that waits for its decision, perhaps again. */
export interface QueuedRequest {
  readonly request: PendingRequest<unknown>;
  readonly resolve: (proven: ProvenAnswer<unknown>) => void;
  readonly reject: (error: IpledgerError) => void;
}

/** A decided request that waits until its batch is proven. */
export interface DecidedRequest {
  readonly queued: QueuedRequest;
  /** Whether it has events. */
  readonly writes: boolean;
  /** Whether its events may be appended while the ledger is frozen. */
  readonly isAllowedWhileFrozen: boolean;
  /** The ledger time until which its command is valid. */
  readonly deadline?: number | undefined;
  /** How long it took to read its answer from the state. Absent for a refusal. */
  readonly readMs?: number;
  /** Resolves or rejects the request. */
  readonly settle: () => void;
}
