/** Spans: the operations of a trace, with attributes. A span is recorded when it ends. */
import { randomBytes } from 'node:crypto';
import type { TraceContext } from './trace-context.ts';

export type AttributeValue = string | number | boolean;
/** Attributes of a span. Undefined values are left out. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/** OpenTelemetry's kinds: `server` handles a call, `client` sends one, `internal` is neither. */
export type SpanKind = 'internal' | 'server' | 'client';

export interface SpanOptions {
  /** Default: `internal`. */
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
  /** Milliseconds since 1970. Default: now. */
  readonly startMs?: number;
  /** A related span that is not the parent. */
  readonly link?: TraceContext | undefined;
}

export interface FinishedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: TraceContext;
  readonly parentSpanId: string | undefined;
  /** Whether another program started the parent. */
  readonly isParentRemote: boolean;
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** The code of the error with which the span ended. */
  readonly error: string | undefined;
  readonly link: TraceContext | undefined;
}

/** A limit, because longer texts of users are mistakes or attacks. */
const maxTextLength = 256;
const maxAttributes = 32;

export const newSpanId = (): string => randomBytes(8).toString('hex');

interface SpanParts extends SpanOptions {
  readonly name: string;
  readonly context: TraceContext;
  readonly parentSpanId: string | undefined;
  readonly isParentRemote: boolean;
  readonly record: (span: FinishedSpan) => void;
}

export class Span {
  readonly context: TraceContext;
  readonly #parts: SpanParts;
  readonly #attributes: Record<string, AttributeValue> = {};
  readonly #startMs: number;
  /** The difference between the time since 1970 and the monotonic clock. */
  readonly #clockOffsetMs: number;
  #attributeCount = 0;
  #isEnded = false;

  constructor(parts: SpanParts, clockOffsetMs = Date.now() - performance.now()) {
    this.#parts = parts;
    this.context = parts.context;
    this.#clockOffsetMs = clockOffsetMs;
    this.#startMs = parts.startMs ?? this.#now();
    if (parts.attributes) this.set(parts.attributes);
  }

  /** Adds attributes. Long texts are truncated. */
  set(attributes: Attributes): void {
    for (const [key, value] of Object.entries(attributes)) {
      if (value === undefined) continue;
      if (!(key in this.#attributes) && ++this.#attributeCount > maxAttributes) continue;
      this.#attributes[key] = typeof value === 'string' ? value.slice(0, maxTextLength) : value;
    }
  }

  /** Starts a child of this span. */
  child(name: string, options: SpanOptions = {}): Span {
    const { traceId, spanId } = this.context;
    const context = { traceId, spanId: newSpanId() };
    const { record } = this.#parts;
    return new Span(
      { ...options, name, context, parentSpanId: spanId, isParentRemote: false, record },
      this.#clockOffsetMs,
    );
  }

  /** Ends the span. Only the first call counts. @param error an error code; none after a success */
  end(error?: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { name, kind = 'internal', context, parentSpanId, isParentRemote, link, record } = this.#parts;
    const times = { startMs: this.#startMs, endMs: Math.max(this.#startMs, this.#now()) };
    record({
      name,
      kind,
      context,
      parentSpanId,
      isParentRemote,
      ...times,
      attributes: this.#attributes,
      error: error?.slice(0, maxTextLength),
      link,
    });
  }

  #now(): number {
    return performance.now() + this.#clockOffsetMs;
  }
}

export const podAttributes = (pod: {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}): Attributes => ({ 'k8s.namespace.name': pod.namespace, 'k8s.pod.name': pod.name, 'k8s.pod.uid': pod.uid });

/** The attributes for addresses of the ledger. */
export const allocationAttributes = (
  allocations: readonly { readonly subnet: string; readonly addresses: readonly unknown[]; readonly seq: number }[],
): Attributes => ({
  'ipledger.subnet': allocations.map(({ subnet }) => subnet).join(','),
  'ipledger.addresses': allocations.reduce((sum, { addresses }) => sum + addresses.length, 0),
  'ipledger.seq': Math.max(0, ...allocations.map(({ seq }) => seq)),
});
