/**
 * The trace of a Pod, and the W3C header `traceparent` that carries it. All programs compute the
 * same trace id from the Pod's uid, and decide by that id whether the trace is sampled. So no
 * program has to store a context.
 */
import { createHash } from 'node:crypto';

/** A span of a sampled trace, as the parent of other spans. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

/** The key of the context in gRPC metadata and HTTP headers. */
export const traceparentKey = 'traceparent';

/** Version 00, which has exactly 55 characters. The last bit of the flags marks a sampled trace. */
const traceparentForm = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f][13579bdf]$/;
const zeros = /^0+$/;

/**
 * Returns the trace of a Pod and its root span: the first 16 bytes of the uid's SHA-256, and the
 * next 8. The uid of a static Pod is the hash of its manifest, as in the container runtime.
 */
export function podTrace(uid: string): TraceContext {
  const hash = createHash('sha256').update(uid).digest('hex');
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) };
}

/** Formats the header for a sampled span. */
export const formatTraceparent = ({ traceId, spanId }: TraceContext): string => `00-${traceId}-${spanId}-01`;

/** Parses a header from any source. Returns undefined without a valid, sampled context. */
export function parseTraceparent(header: unknown): TraceContext | undefined {
  if (typeof header !== 'string' || header.length !== 55) return undefined;
  const [, traceId = '', spanId = ''] = traceparentForm.exec(header) ?? [];
  if (traceId === '' || zeros.test(traceId) || zeros.test(spanId)) return undefined;
  return { traceId, spanId };
}

/** The digits of a trace id that decide: the last ones, as in W3C Trace Context level 2. */
const randomDigits = 13;

/**
 * Whether a trace is sampled at a ratio from 0 to 1. A trace that is sampled at a ratio is also
 * sampled at every higher ratio. So programs with the same ratio record the same traces.
 */
export function isSampled({ traceId }: TraceContext, ratio: number): boolean {
  const random = Number.parseInt(traceId.slice(-randomDigits), 16) / 16 ** randomDigits;
  return random >= 1 - ratio;
}
