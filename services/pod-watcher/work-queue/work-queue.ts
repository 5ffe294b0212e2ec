/**
 * A work queue of keys. A key that is added again while it waits is in the queue once. A key that
 * is added while it is processed is processed again afterwards. No key is processed twice at a
 * time. So the work must read the current state itself. The queue is bounded by the number of
 * distinct keys.
 *
 * The queue is fair: namespaces take turns, and a processed key goes behind all waiting keys of its
 * namespace. Slow work is logged with its key. After some milliseconds of work the queue yields to
 * the event loop.
 */
import { backoffMs } from '../../../lib/process/abortable.ts';
import { IpledgerError, errorMessage } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { addTo } from '../../../lib/maps.ts';
import { workQueueLimits } from '../limits.ts';
import { namespaceOf } from '../namespaced-map.ts';
import { FairFifo } from './fair-fifo.ts';

/** The result of work. 'again' repeats the key after a growing backoff, as an error does. */
export type Outcome = 'done' | 'again';

export interface WorkQueueOptions {
  readonly concurrency: number;
  readonly firstBackoffMs: number;
  readonly maxBackoffMs: number;
  readonly work: (key: string) => Promise<Outcome>;
  /** Returns a key's namespace; "" for none. Default: the part before the first slash. */
  readonly namespaceOf?: (key: string) => string;
  /**
   * Whether a key has low priority: while other keys are ready, one in nine turns is for such keys.
   * Default: no key has.
   */
  readonly canWait?: (key: string) => boolean;
  /** The clock for the duration of work, in milliseconds. Default: performance.now(). */
  readonly now?: () => number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const triesBetweenWarnings = 20;
/** The number of high-priority keys for one low-priority key. */
const highPerLow = 8;
/** The interval of logs while all work is slow, for example without an allocator. */
const slowLogEveryMs = 10_000;

export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #namespaceOf: (key: string) => string;
  readonly #ready: FairFifo;
  readonly #lowPriority: FairFifo;
  readonly #working = new Set<string>();
  /** Keys that were added while they were processed. */
  readonly #dirty = new Set<string>();
  /** The keys that wait, by the key in work for whose end they wait. */
  readonly #followers = new Map<string, Set<string>>();
  /** The key in work for whose end a follower waits. */
  readonly #leaders = new Map<string, string>();
  readonly #timers = new Map<string, { readonly timer: NodeJS.Timeout; readonly dueAt: number }>();
  readonly #tries = new Map<string, number>();
  /** The start of work in this iteration of the event loop; undefined if there was none. */
  #sliceStart: number | undefined;
  /** The number of high-priority keys taken since the last low-priority key. */
  #takenInRow = 0;
  #slow = { loggedAt: -Infinity, unlogged: 0 };
  #started = false;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#namespaceOf = options.namespaceOf ?? namespaceOf;
    this.#ready = new FairFifo(this.#namespaceOf);
    this.#lowPriority = new FairFifo(this.#namespaceOf);
    options.signal.addEventListener('abort', () => this.#clear(), { once: true });
  }

  /** Starts to process keys. Keys that were added before wait for it. */
  start(): void {
    this.#started = true;
    this.#pump();
  }

  /** Processes `key` as soon as possible, without the rest of its backoff. */
  add(key: string): void {
    if (this.#options.signal.aborted) return;
    this.#cancelTimer(key);
    this.#leaders.delete(key);
    const fifo = this.#fifoOf(key);
    if (fifo === this.#ready) this.#lowPriority.delete(key);
    if (this.#working.has(key)) this.#dirty.add(key);
    else fifo.add(key);
    this.#pump();
  }

  /**
   * Processes `first` before `key`, in turns of the namespace of `key`. If one of them is in work,
   * or waits itself for the end of a key in work, `key` waits for that end, too: a key that lets
   * others go first would be processed without a pause.
   */
  addBefore(key: string, first: readonly string[]): void {
    if (this.#options.signal.aborted) return;
    const inWorkFor = (each: string): string | undefined => (this.#working.has(each) ? each : this.#leaders.get(each));
    for (const each of first) if (inWorkFor(each) === undefined) this.#fifoOf(each).add(each, this.#namespaceOf(key));
    const leader = first.map(inWorkFor).find((each) => each !== undefined);
    if (leader === undefined) return this.add(key);
    addTo(this.#followers, leader, key);
    this.#leaders.set(key, leader);
    this.#pump();
  }

  /** Processes `key` in `ms` milliseconds, or at an earlier time that is already planned. */
  addAfter(key: string, ms: number): void {
    if (this.#options.signal.aborted || this.#fifoOf(key).has(key) || this.#dirty.has(key)) return;
    const dueAt = performance.now() + ms;
    const planned = this.#timers.get(key);
    if (planned && planned.dueAt <= dueAt) return;
    this.#cancelTimer(key);
    // Limits the delay: Node.js timers have at most 2^31 ms. A longer delay ends early.
    const timer = setTimeout(() => this.add(key), Math.min(ms, 86_400_000));
    this.#timers.set(key, { timer, dueAt });
  }

  /** Returns how many times in a row `key` has ended in 'again'. */
  tries(key: string): number {
    return this.#tries.get(key) ?? 0;
  }

  /** Returns the keys whose last result was 'again'. */
  retryingKeys(): string[] {
    return [...this.#tries.keys()];
  }

  /** Whether no key is ready or being processed. Keys in backoff do not count. */
  get isIdle(): boolean {
    return this.#ready.size === 0 && this.#lowPriority.size === 0 && this.#working.size === 0;
  }

  #fifoOf(key: string): FairFifo {
    return this.#options.canWait?.(key) ? this.#lowPriority : this.#ready;
  }

  #pump(): void {
    if (!this.#started) return;
    while (this.#working.size < this.#options.concurrency && !this.#options.signal.aborted) {
      if (this.#ready.size + this.#lowPriority.size === 0 || this.#isSliceOver()) return;
      const key = this.#take();
      if (key === undefined) return;
      // Processes a key once that is queued twice: its namespace became known late, or it has a
      // turn of another namespace.
      if (this.#working.has(key)) this.#dirty.add(key);
      else {
        this.#working.add(key);
        void this.#run(key);
      }
    }
  }

  /** Takes the next key. Low-priority keys have some turns, so that they do not wait for ever. */
  #take(): string | undefined {
    const isLowTurn = this.#takenInRow >= highPerLow && this.#lowPriority.size > 0;
    const key = (isLowTurn ? undefined : this.#takeReady()) ?? this.#lowPriority.take();
    this.#takenInRow = isLowTurn ? 0 : this.#takenInRow + 1;
    return key;
  }

  /** Takes a ready key whose priority has not changed while it was in the queue. */
  #takeReady(): string | undefined {
    let key = this.#ready.take();
    for (; key !== undefined && this.#options.canWait?.(key); key = this.#ready.take()) this.#lowPriority.add(key);
    return key;
  }

  /** Whether the time slice is over, so that work continues in the next iteration. */
  #isSliceOver(): boolean {
    const now = (this.#options.now ?? (() => performance.now()))();
    if (this.#sliceStart === undefined) {
      this.#sliceStart = now;
      setImmediate(() => {
        this.#sliceStart = undefined;
        this.#pump();
      });
    }
    return now - this.#sliceStart > workQueueLimits.sliceMs;
  }

  async #run(key: string): Promise<void> {
    const now = this.#options.now ?? (() => performance.now());
    const startedAt = now();
    const outcome = await this.#try(key);
    this.#logSlow(key, now() - startedAt, now());
    this.#working.delete(key);
    const followers = this.#followers.get(key) ?? [];
    this.#followers.delete(key);
    const tries = outcome === 'done' ? 0 : this.tries(key) + 1;
    if (tries === 0) this.#tries.delete(key);
    else this.#tries.set(key, tries);
    if (this.#dirty.delete(key)) this.add(key);
    else if (tries > 0)
      this.addAfter(key, backoffMs(tries - 1, this.#options.firstBackoffMs, this.#options.maxBackoffMs));
    for (const follower of followers) this.add(follower);
    this.#pump();
  }

  #logSlow(key: string, tookMs: number, now: number): void {
    if (tookMs <= workQueueLimits.slowMs) return;
    const { loggedAt, unlogged } = this.#slow;
    if (now - loggedAt < slowLogEveryMs) {
      this.#slow.unlogged += 1;
      return;
    }
    this.#slow = { loggedAt: now, unlogged: 0 };
    const others = unlogged > 0 && { otherSlowWork: unlogged };
    this.#options.log.warn(
      { key, tookMs: Math.round(tookMs), ...others },
      'slow work: the key goes behind all waiting keys',
    );
  }

  async #try(key: string): Promise<Outcome> {
    try {
      return await this.#options.work(key);
    } catch (error) {
      if (!this.#options.signal.aborted) this.#logFailure(error, key);
      return 'again';
    }
  }

  /**
   * Logs an error. Leaves an unavailable allocator or API server to their watches, which log it
   * once. An error that a retry does not fix is logged at first, and then every 20 attempts.
   */
  #logFailure(error: unknown, key: string): void {
    const tries = this.tries(key);
    const level = tries % triesBetweenWarnings === 0 ? levelOf(error) : 'debug';
    const details = level === 'error' ? { err: error } : { reason: errorMessage(error) };
    this.#options.log[level]({ ...details, key, tries }, 'work failed, retrying');
  }

  #cancelTimer(key: string): void {
    clearTimeout(this.#timers.get(key)?.timer);
    this.#timers.delete(key);
  }

  #clear(): void {
    for (const key of this.#timers.keys()) this.#cancelTimer(key);
    this.#ready.clear();
    this.#lowPriority.clear();
    this.#dirty.clear();
    this.#followers.clear();
    this.#leaders.clear();
  }
}

function levelOf(error: unknown): 'debug' | 'warn' | 'error' {
  if (error instanceof ApiError) return error.reaction === 'later' ? 'debug' : 'warn';
  if (!(error instanceof IpledgerError) || error.kind === 'bug') return 'error';
  return error.kind === 'transient' ? 'debug' : 'warn';
}
