/**
 * The queue of spans that wait for export, of limited size. Once a second, all queued spans are
 * exported together. If the collector is slow or missing, spans are dropped and counted, but no
 * call is delayed.
 */
import { setTimeout as sleepFor } from 'node:timers/promises';
import type { Logger } from '../process/log.ts';
import type { FinishedSpan } from './span.ts';

/** The most queued spans, and so the most that a program records in a second. */
const maxQueued = 1_024;
const intervalMs = 1_000;
const closeDeadlineMs = 1_000;
const logIntervalMs = 60_000;

export interface SpanQueueOptions {
  /** Sends spans. Rejects if the collector has not accepted them. */
  readonly exportSpans: (spans: readonly FinishedSpan[]) => Promise<void>;
  readonly onDropped: (count: number) => void;
  readonly log: Logger;
}

export class SpanQueue {
  readonly #options: SpanQueueOptions;
  readonly #timer: NodeJS.Timeout;
  #queued: FinishedSpan[] = [];
  #exporting: Promise<void> | undefined;
  #loggedAt = -Infinity;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.flush(), intervalMs).unref();
  }

  /** Queues a span, or drops it if the queue is full. */
  add(span: FinishedSpan): void {
    if (this.#queued.length < maxQueued) this.#queued.push(span);
    else this.#options.onDropped(1);
  }

  /** Exports the queued spans, unless an export is in progress. Never throws. */
  flush(): Promise<void> {
    if (this.#exporting || this.#queued.length === 0) return this.#exporting ?? Promise.resolve();
    const spans = this.#queued;
    this.#queued = [];
    const done = (): void => void (this.#exporting = undefined);
    this.#exporting = this.#export(spans).finally(done);
    return this.#exporting;
  }

  /** Exports the remaining spans within a second, and drops what is left then. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const exportRest = async (): Promise<void> => {
      await this.#exporting;
      await this.flush();
    };
    await Promise.race([exportRest(), sleepFor(closeDeadlineMs, undefined, { ref: false })]);
    if (this.#queued.length > 0) this.#options.onDropped(this.#queued.length);
    this.#queued = [];
  }

  async #export(spans: readonly FinishedSpan[]): Promise<void> {
    const { exportSpans, onDropped, log } = this.#options;
    try {
      await exportSpans(spans);
    } catch (error) {
      onDropped(spans.length);
      if (performance.now() - this.#loggedAt < logIntervalMs) return;
      this.#loggedAt = performance.now();
      log.warn(
        { err: error, spans: spans.length },
        'tracing: the collector did not accept the spans, and they are dropped; check --trace-endpoint',
      );
    }
  }
}
