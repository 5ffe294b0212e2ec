/**
 * A work queue keyed by name: a key that is added while it waits is in it once; one that is added while it is being
 * worked on is worked on again afterwards; no key is ever worked on twice at a time. So the work must look at the state of
 * the world by itself, and may be asked to look at any time. It is bounded by the number of distinct keys.
 *
 * No key keeps the others waiting: after its turn it goes behind all that wait, also one that was added meanwhile. A turn that
 * took long is logged with its key. After it began turns for a few milliseconds all else in the process goes first.
 */
import { backoffMs } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { ApiError, reasonOf } from './kubernetes/api.ts';
import { turnLimits } from './limits.ts';
import { Line } from './line.ts';

/** 'done'; or 'again', after a backoff that grows until 'done'. A throw counts as 'again' and is logged. */
export type Outcome = 'done' | 'again';

export interface QueueOptions {
  readonly concurrency: number;
  readonly firstBackoffMs: number;
  readonly mostBackoffMs: number;
  readonly work: (key: string) => Promise<Outcome>;
  /** Which keys can wait until no others are ready; none unless said. */
  readonly canWait?: (key: string) => boolean;
  /** The time in milliseconds, for how long a turn took; performance.now() unless said. */
  readonly now?: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const triesBetweenWarnings = 20;
/** Where all turns are slow, as with an allocator that is away, one line in so long says so for all. */
const slowEveryMs = 10_000;

export class Queue {
  readonly #options: QueueOptions;
  readonly #ready = new Line();
  readonly #patient = new Line();
  readonly #working = new Set<string>();
  /** Added while they were being worked on. */
  readonly #dirty = new Set<string>();
  readonly #timers = new Map<string, { readonly timer: NodeJS.Timeout; readonly dueAt: number }>();
  readonly #tries = new Map<string, number>();
  /** When turns began in this round of the event loop; undefined while none did. */
  #sliceFrom: number | undefined;
  #slow = { loggedAt: -Infinity, unlogged: 0 };
  #started = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#clear(), { once: true });
  }

  /** Begins to work; what was added before waits until then. */
  start(): void {
    this.#started = true;
    this.#pump();
  }

  /** Work on `key` as soon as there is room, also when it sits out a backoff. */
  add(key: string): void {
    if (this.#options.signal.aborted) return;
    this.#cancelTimer(key);
    if (this.#working.has(key)) this.#dirty.add(key);
    else this.#lineOf(key).add(key);
    this.#pump();
  }

  /** Work on `key` in `ms` milliseconds; if that is planned already, at the earlier time. */
  addAfter(key: string, ms: number): void {
    if (this.#options.signal.aborted || this.#lineOf(key).has(key) || this.#dirty.has(key)) return;
    const dueAt = performance.now() + ms;
    const planned = this.#timers.get(key);
    if (planned && planned.dueAt <= dueAt) return;
    this.#cancelTimer(key);
    // Node's timers end at 2^31 ms; whoever waits longer is just asked in between.
    const timer = setTimeout(() => this.add(key), Math.min(ms, 86_400_000));
    this.#timers.set(key, { timer, dueAt });
  }

  /** How often in a row `key` has ended in 'again'. */
  tries(key: string): number {
    return this.#tries.get(key) ?? 0;
  }

  /** The keys that ended in 'again' when they were worked on last. */
  trying(): string[] {
    return [...this.#tries.keys()];
  }

  /** Whether nothing is ready or being worked on; keys that sit out a backoff don't count. */
  get idle(): boolean {
    return this.#ready.size === 0 && this.#patient.size === 0 && this.#working.size === 0;
  }

  #lineOf(key: string): Line {
    return this.#options.canWait?.(key) ? this.#patient : this.#ready;
  }

  #pump(): void {
    if (!this.#started) return;
    while (this.#working.size < this.#options.concurrency && !this.#options.signal.aborted) {
      if (this.#ready.size + this.#patient.size === 0 || this.#isSliceOver()) return;
      const key = this.#ready.take() ?? this.#patient.take();
      if (key === undefined) return;
      this.#working.add(key);
      void this.#run(key);
    }
  }

  /** Turns that only compute must not keep the rest of the process waiting: after a slice of time the next round goes on. */
  #isSliceOver(): boolean {
    const now = (this.#options.now ?? (() => performance.now()))();
    if (this.#sliceFrom === undefined) {
      this.#sliceFrom = now;
      setImmediate(() => {
        this.#sliceFrom = undefined;
        this.#pump();
      });
    }
    return now - this.#sliceFrom > turnLimits.sliceMs;
  }

  async #run(key: string): Promise<void> {
    const now = this.#options.now ?? (() => performance.now());
    const startedAt = now();
    const outcome = await this.#try(key);
    this.#noteSlow(key, now() - startedAt, now());
    this.#working.delete(key);
    const tries = outcome === 'done' ? 0 : this.tries(key) + 1;
    if (tries === 0) this.#tries.delete(key);
    else this.#tries.set(key, tries);
    if (this.#dirty.delete(key)) this.add(key);
    else if (tries > 0)
      this.addAfter(key, backoffMs(tries - 1, this.#options.firstBackoffMs, this.#options.mostBackoffMs));
    this.#pump();
  }

  #noteSlow(key: string, tookMs: number, now: number): void {
    if (tookMs <= turnLimits.slowMs) return;
    const { loggedAt, unlogged } = this.#slow;
    if (now - loggedAt < slowEveryMs) {
      this.#slow.unlogged += 1;
      return;
    }
    this.#slow = { loggedAt: now, unlogged: 0 };
    const others = unlogged > 0 && { otherSlowTurns: unlogged };
    this.#options.log.warn(
      { key, tookMs: Math.round(tookMs), ...others },
      'a slow turn: all that wait go before its key',
    );
  }

  async #try(key: string): Promise<Outcome> {
    try {
      return await this.#options.work(key);
    } catch (error) {
      if (!this.#options.signal.aborted) this.#complain(error, key);
      return 'again';
    }
  }

  /**
   * That the allocator or the API server is away is said once by who watches it, not once for each key. What no waiting will
   * mend is said at first, and now and then while it lasts.
   */
  #complain(error: unknown, key: string): void {
    const tries = this.tries(key);
    const level = tries % triesBetweenWarnings === 0 ? seriousness(error) : 'debug';
    const what = level === 'error' ? { err: error } : { reason: reasonOf(error) };
    this.#options.log[level]({ ...what, key, tries }, 'work failed, trying again');
  }

  #cancelTimer(key: string): void {
    clearTimeout(this.#timers.get(key)?.timer);
    this.#timers.delete(key);
  }

  #clear(): void {
    for (const key of this.#timers.keys()) this.#cancelTimer(key);
    this.#ready.clear();
    this.#patient.clear();
    this.#dirty.clear();
  }
}

function seriousness(error: unknown): 'debug' | 'warn' | 'error' {
  if (error instanceof ApiError) return error.reaction === 'later' ? 'debug' : 'warn';
  if (!(error instanceof IpledgerError) || error.kind === 'bug') return 'error';
  return error.kind === 'transient' ? 'debug' : 'warn';
}
