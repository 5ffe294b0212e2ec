/** The context of one call: its caller, deadline, end and span. */
import type { EventEmitter } from 'node:events';
import type { ServerUnaryCall } from '@grpc/grpc-js';
import type { Span } from '../../tracing/span.ts';
import { parseTraceparent } from '../../tracing/trace-context.ts';
import type { Tracer } from '../../tracing/tracer.ts';
import { anonymous, callerOf } from './authorization.ts';
import { IpledgerError } from '../../errors.ts';

/** The context of one call. Use its functions as methods: a copy lacks them and `signal`. */
export interface CallContext {
  /** The authenticated identity of the caller. */
  readonly actor: string;
  /** The node of a caller that is an agent. The agent may name no other node. */
  readonly ownNode?: string;
  /** Aborted when the caller has disconnected or its deadline has passed. */
  readonly signal: AbortSignal;
  /** Whether the caller has left, without creating the signal. Absent: read `signal`. */
  readonly caller?: Abortable;
  /** The time since the request arrived at the first replica. Absent: 0. */
  elapsedMs?(): number;
  /** The time until the caller's deadline; Infinity without a deadline. Absent: Infinity. */
  remainingMs?(): number;
  /** The span of the call, if the caller sent a sampled trace. */
  readonly span?: Span | undefined;
}

export type Call = EventEmitter & Pick<ServerUnaryCall<unknown, unknown>, 'metadata' | 'cancelled' | 'getDeadline'>;

/** Metadata keys of a forwarded call: the mark itself, and the time that the caller has waited. */
export const forwardedKey = 'ipledger-forwarded';
export const elapsedKey = 'ipledger-elapsed-ms';

/** The context of a request that arrives now. A class, because closures would make more garbage. */
export class ArrivedContext implements CallContext {
  readonly actor: string;
  readonly ownNode?: string;
  readonly caller: Ending;
  readonly span: Span | undefined;
  readonly #call: Call;
  /** The time of arrival on the monotonic clock, which also measures the deadline. */
  readonly #arrivedAt: number;
  readonly #deadline: number;

  constructor(call: Call, ending: Ending, span?: Span) {
    const caller = callerOf(call.metadata);
    this.actor = caller?.uri ?? anonymous;
    if (caller?.kind === 'agent') this.ownNode = caller.name;
    this.caller = ending;
    this.span = span;
    this.#call = call;
    this.#arrivedAt = performance.now();
    // The caller sent its deadline as a duration, which the monotonic clock measures from now on.
    this.#deadline = this.#arrivedAt + Number(call.getDeadline()) - Date.now();
  }

  get signal(): AbortSignal {
    return this.caller.signal;
  }

  elapsedMs(): number {
    const waitedMs = Math.max(0, Number(this.#call.metadata.get(elapsedKey)[0] ?? 0) || 0);
    return performance.now() - this.#arrivedAt + waitedMs;
  }

  remainingMs(): number {
    return this.#deadline - performance.now();
  }
}

/** Starts the span of a call, as a child of the caller's span. Sampling is decided here. */
export function startCallSpan(tracer: Tracer, path: string, traceparents: readonly unknown[]): Span | undefined {
  const [traceparent, ...others] = traceparents;
  if (traceparent === undefined || others.length > 0) return undefined;
  const name = path.slice(path.lastIndexOf('.') + 1); // "/ipledger.v1.Ipam/Allocate"
  return tracer.start(name, parseTraceparent(traceparent), {
    kind: 'server',
    attributes: { 'rpc.system': 'grpc', 'rpc.method': path.slice(1) },
  });
}

/** The state of an AbortSignal, without its events. */
export type Abortable = Pick<AbortSignal, 'aborted'>;

/** The end of a call: whether it has happened, and a signal for it. */
export interface Ending extends Abortable {
  readonly signal: AbortSignal;
}

// One shared error for all calls: every call ends, and a stack trace for each would be expensive.
const callerDisconnected = new IpledgerError('CANCELLED', 'the caller has disconnected');

/** The part of a grpc-js call that shows its end. */
export type CancellableCall = Pick<EventEmitter, 'once'> & { readonly cancelled: boolean };

/** The end of one call. Its signal is created only for handlers that wait for it. */
export class CallEnding implements Ending {
  readonly #call: CancellableCall;
  #controller: AbortController | undefined;

  constructor(call: CancellableCall) {
    this.#call = call;
  }

  get aborted(): boolean {
    return this.#call.cancelled;
  }

  /** Aborted with CANCELLED when the call ends. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      const end = (): void => controller.abort(callerDisconnected);
      if (this.#call.cancelled) end();
      else this.#call.once('cancelled', end);
      this.#controller = controller;
    }
    return this.#controller.signal;
  }
}

/** The ending of a call, from a signal. */
export const callEndingOf = (signal: AbortSignal): Ending => ({
  signal,
  get aborted() {
    return signal.aborted;
  },
});
