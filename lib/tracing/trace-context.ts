/**
 * The trace of a Pod, and the W3C header `traceparent` that carries it. All programs compute the
 * same trace id from the uid of the Pod, and decide by it whether the trace is sampled: no program
 * stores a context. Pure.
 */
import { createHash } from 'node:crypto';

/** A span of a sampled trace, as parent of other spans. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

/** The key of the context in gRPC metadata and in HTTP headers. */
export const traceparentKey = 'traceparent';

/** Version 00, which has exactly 55 characters; the last bit of the flags marks a sampled trace. */
const traceparentForm = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f][13579bdf]$/;
const zeros = /^0+$/;

/**
 * Returns the trace of a Pod with the id of its root span: the first 16 bytes of SHA-256 of the
 * uid, and the next 8 bytes. For a static Pod the uid is the hash of its manifest, as in the
 * container runtime.
 */
export function podTrace(uid: string): TraceContext {
  const hash = createHash('sha256').update(uid).digest('hex');
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) };
}

/** Writes the header of a sampled span. */
export const formatTraceparent = ({ traceId, spanId }: TraceContext): string => `00-${traceId}-${spanId}-01`;

/** Reads a header of any origin. Returns undefined without a valid context of a sampled trace. */
export function parseTraceparent(header: unknown): TraceContext | undefined {
  if (typeof header !== 'string' || header.length !== 55) return undefined;
  const [, traceId = '', spanId = ''] = traceparentForm.exec(header) ?? [];
  if (traceId === '' || zeros.test(traceId) || zeros.test(spanId)) return undefined;
  return { traceId, spanId };
}

/** The digits of a trace id that decide: the last ones, as in W3C Trace Context level 2. */
const randomDigits = 13;

/**
 * Whether a trace is sampled at a ratio from 0 to 1. A trace that is sampled at one ratio is
 * sampled at every higher ratio, so programs with the same ratio record the same traces.
 */
export function isSampled({ traceId }: TraceContext, ratio: number): boolean {
  const random = Number.parseInt(traceId.slice(-randomDigits), 16) / 16 ** randomDigits;
  return random >= 1 - ratio;
}
