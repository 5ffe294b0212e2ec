/** The context of one call, or of one request of a stream: who sent it, until when it is waited for, and its span. */
import type { EventEmitter } from 'node:events';
import type { ServerUnaryCall } from '@grpc/grpc-js';
import type { Span } from '../../tracing/span.ts';
import { parseTraceparent } from '../../tracing/trace-context.ts';
import type { Tracer } from '../../tracing/tracer.ts';
import { anonymous, callerOf } from './authorization.ts';
import { type Abortable, CallEnding } from './call-ending.ts';

/** The context of one call. */
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
  readonly elapsedMs?: () => number;
  /** Time until the caller's deadline; Infinity without one. Absent: Infinity. */
  readonly remainingMs?: () => number;
  /** The span of the call, if its caller sent a context of a sampled trace. */
  readonly span?: Span | undefined;
}

export type Call = EventEmitter & Pick<ServerUnaryCall<unknown, unknown>, 'metadata' | 'cancelled' | 'getDeadline'>;

/** Metadata of a forwarded call: that it is forwarded, and how long the caller has waited. */
export const forwardedKey = 'ipledger-forwarded';
export const elapsedKey = 'ipledger-elapsed-ms';

/** Returns the ending of a call, which happens when its caller disconnects or its deadline passes. */
export function endingOf(call: Call): CallEnding {
  const ending = new CallEnding();
  call.on('cancelled', () => ending.end());
  if (call.cancelled) ending.end();
  return ending;
}

/** The context of a request that arrived now. */
export function contextOf(call: Call, ending: CallEnding, span?: Span): CallContext {
  const caller = callerOf(call.metadata);
  const now = performance.now();
  // The caller sent its deadline as a duration. The monotonic clock measures it from here.
  const deadline = now + Number(call.getDeadline()) - Date.now();
  const waitedMs = (): number => Math.max(0, Number(call.metadata.get(elapsedKey)[0] ?? 0) || 0);
  return {
    actor: caller?.uri ?? anonymous,
    ...(caller?.kind === 'agent' && { ownNode: caller.name }),
    caller: ending,
    get signal() {
      return ending.signal;
    },
    elapsedMs: () => performance.now() - now + waitedMs(),
    remainingMs: () => deadline - performance.now(),
    span,
  };
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
