/**
 * Collects garbage when a program becomes idle. V8 collects garbage when a program allocates, so an
 * idle program would keep the memory of its last work for hours. See
 * docs/decisions/0041-collect-when-idle.md.
 */
import type { EventLoopUtilization } from 'node:perf_hooks';
import type { Logger } from './log.ts';

export interface IdleCollectionOptions {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Called at each check while the program is idle. It may drop caches. */
  readonly onIdle?: () => void;
  /** The time that a program must be idle, which is also the interval of the checks. */
  readonly idleMs?: number;
}

/** The load of the main thread since the last check, and the memory of the process. */
export interface Activity {
  /** The share of the time in which the main thread worked, 0 to 1. */
  readonly utilization: number;
  readonly residentBytes: number;
}

const defaultIdleMs = 5_000;
/** An idle program may use this share. An allocator with a thousand connected agents uses 0.02. */
const maxUtilization = 0.04;
/** The least growth that is worth a pause. */
const minGrowthBytes = 32 * 2 ** 20;
/** The least time between collections. Otherwise a little work would cause one each few seconds. */
const minIntervalMs = 60_000;
/** The longest pause: 2 to 3 ms per MiB. A longer one would delay the renewal of a lease of 5 s. */
const maxPauseMs = 1_000;

/** Decides when to collect: once after each growth of memory. */
export class IdleCollection {
  #lowestBytes: number;
  #collectedAt = -Infinity;
  #isTooSlow = false;

  /** @param residentBytes the memory of the program before its work */
  constructor(residentBytes: number) {
    this.#lowestBytes = residentBytes;
  }

  /** Whether to collect now. Call it at intervals. @param now milliseconds from any origin */
  isDue({ utilization, residentBytes }: Activity, now: number): boolean {
    this.#lowestBytes = Math.min(this.#lowestBytes, residentBytes);
    if (utilization > maxUtilization || this.#isTooSlow || now - this.#collectedAt < minIntervalMs) return false;
    return residentBytes - this.#lowestBytes >= minGrowthBytes;
  }

  /** Call it after a collection. Memory that was not freed must not cause another collection. */
  onCollected(residentBytes: number, { now, pauseMs }: { readonly now: number; readonly pauseMs: number }): void {
    this.#lowestBytes = residentBytes;
    this.#collectedAt = now;
    this.#isTooSlow = pauseMs > maxPauseMs;
  }
}

/** Collects all garbage and returns memory to the system, if Node runs with `--expose-gc`. */
export function collectGarbage(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Starts the checks until the signal is aborted. Does nothing without `--expose-gc`. */
export function collectWhenIdle({ onIdle, log, signal, idleMs = defaultIdleMs }: IdleCollectionOptions): void {
  if (!globalThis.gc) return;
  const collection = new IdleCollection(process.memoryUsage.rss());
  let before: EventLoopUtilization = performance.eventLoopUtilization();
  const check = (): void => {
    const current = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(current, before);
    before = current;
    if (utilization <= maxUtilization) onIdle?.();
    const residentBytes = process.memoryUsage.rss();
    const now = performance.now();
    if (!collection.isDue({ utilization, residentBytes }, now)) return;
    collectGarbage();
    const after = process.memoryUsage.rss();
    const pauseMs = Math.round(performance.now() - now);
    collection.onCollected(after, { now, pauseMs });
    const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
    log.info({ beforeMiB: mebibytes(residentBytes), afterMiB: mebibytes(after), pauseMs }, 'idle: garbage collected');
  };
  const timer = setInterval(check, idleMs).unref();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}
