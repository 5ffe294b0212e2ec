/** The context of one call: who sent it, until when it is waited for, and its span. */
import type { EventEmitter } from 'node:events';
import type { ServerUnaryCall } from '@grpc/grpc-js';
import type { Span } from '../../tracing/span.ts';
import { parseTraceparent } from '../../tracing/trace-context.ts';
import type { Tracer } from '../../tracing/tracer.ts';
import { anonymous, callerOf } from './authorization.ts';
import type { Abortable, Ending } from './call-ending.ts';

/** The context of one call. Call its functions as methods: a copy by spread or destructuring lacks them, and `signal`. */
export interface CallContext {
  /** The authenticated identity of the caller. */
  readonly actor: string;
  /** The node of a caller that is an agent. The agent may not name another node. */
  readonly ownNode?: string;
  /** Aborted when the caller has disconnected or its deadline has passed. */
  readonly signal: AbortSignal;
  /** The same without a signal, which few calls need. Absent: read `signal`. */
  readonly caller?: Abortable;
  /** Time since the request arrived, at the standby that forwarded it if there is one. Absent: 0. */
  elapsedMs?(): number;
  /** Time until the caller's deadline; Infinity without one. Absent: Infinity. */
  remainingMs?(): number;
  /** The span of the call, if its caller sent a context of a sampled trace. */
  readonly span?: Span | undefined;
}

export type Call = EventEmitter & Pick<ServerUnaryCall<unknown, unknown>, 'metadata' | 'cancelled' | 'getDeadline'>;

/** Metadata of a forwarded call: that it is forwarded, and how long the caller has waited. */
export const forwardedKey = 'ipledger-forwarded';
export const elapsedKey = 'ipledger-elapsed-ms';

/** The context of a request that arrived now. A class: closures for each call would be a part of its garbage. */
export class ArrivedContext implements CallContext {
  readonly actor: string;
  readonly ownNode?: string;
  readonly caller: Ending;
  readonly span: Span | undefined;
  readonly #call: Call;
  /** Of the monotonic clock, as the deadline. */
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
    // The caller sent its deadline as a duration. The monotonic clock measures it from here.
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

/** The caller's context names the parent; whether the span is recorded is decided by this program's own ratio. */
export function startCallSpan(tracer: Tracer, path: string, traceparents: readonly unknown[]): Span | undefined {
  const [traceparent, ...others] = traceparents;
  if (traceparent === undefined || others.length > 0) return undefined;
  const name = path.slice(path.lastIndexOf('.') + 1); // "/ipledger.v1.Ipam/Allocate"
  return tracer.start(name, parseTraceparent(traceparent), {
    kind: 'server',
    attributes: { 'rpc.system': 'grpc', 'rpc.method': path.slice(1) },
  });
}
