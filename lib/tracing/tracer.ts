/**
 * Starts spans. A program without a tracer calls `tracer?.start(…)`, which does nothing and
 * evaluates no argument.
 *
 * A context from another program is not enough: this program's own ratio must also sample the
 * trace.
 */
import { type FinishedSpan, newSpanId, Span, type SpanOptions } from './span.ts';
import { isSampled, podTrace, type TraceContext } from './trace-context.ts';

export interface TracerOptions {
  /** The share of traces that are recorded, from 0 to 1. */
  readonly ratio: number;
  /** Called with each ended span. It must be fast and must not throw. */
  readonly record: (span: FinishedSpan) => void;
}

export class Tracer {
  readonly #options: TracerOptions;

  constructor(options: TracerOptions) {
    this.#options = options;
  }

  /** The trace of a Pod and its root span; undefined if it is not sampled. */
  podTrace(uid: string): TraceContext | undefined {
    const context = podTrace(uid);
    return uid !== '' && isSampled(context, this.#options.ratio) ? context : undefined;
  }

  /** Starts the root span of a trace. */
  startRoot(name: string, context: TraceContext, options: SpanOptions = {}): Span {
    const { record } = this.#options;
    return new Span({ ...options, name, context, parentSpanId: undefined, isParentRemote: false, record });
  }

  /** Starts a span whose parent is in another program; undefined if the parent is not sampled. */
  start(name: string, parent: TraceContext | undefined, options: SpanOptions = {}): Span | undefined {
    const { ratio, record } = this.#options;
    if (!parent || !isSampled(parent, ratio)) return undefined;
    const { traceId, spanId } = parent;
    const context = { traceId, spanId: newSpanId() };
    return new Span({ ...options, name, context, parentSpanId: spanId, isParentRemote: true, record });
  }
}
