/** Shares reads between viewers: equal reads at the same time cause one call. */
import { rejectWhenAborted } from '../../../lib/process/abortable.ts';
import type { Semaphore } from '../../../lib/process/semaphore.ts';

/**
 * Returns a read whose result is at most `maxAgeMs` older than a read of one's own. A failure is
 * not kept.
 */
export function shareFor<Value>(maxAgeMs: number, read: () => Promise<Value>): () => Promise<Value> {
  const shared = new SharedReads<Value>({ maxKept: 1, maxAgeMs: () => maxAgeMs });
  return () => shared.read('', never, read);
}

const never = new AbortController().signal;

interface Limits {
  /** The results that are kept, beside those that callers wait for. */
  readonly maxKept: number;
  /** The time for which a read is shared after its beginning, if it does not take longer. */
  readonly maxAgeMs: (key: string) => number;
  /** Limits the reads in progress. */
  readonly limited?: Semaphore;
}

interface Shared<Value> {
  readonly value: Promise<Value>;
  readonly startedAt: number;
  readonly ending: AbortController;
  isPending: boolean;
  callers: number;
}

/** Shares reads by key. A read ends when all of its callers have gone. */
export class SharedReads<Value> {
  readonly #limits: Limits;
  /** The reads by key, the least recently used first. */
  readonly #reads = new Map<string, Shared<Value>>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Returns the result for a key. @throws the error of `call`, or the reason of the signal */
  async read(key: string, signal: AbortSignal, call: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const found = this.#reads.get(key);
    const isFresh = found && (found.isPending || performance.now() - found.startedAt < this.#limits.maxAgeMs(key));
    const shared = isFresh ? found : this.#start(key, call);
    this.#reads.delete(key);
    this.#reads.set(key, shared);
    this.#dropOldest();
    shared.callers++;
    try {
      return await rejectWhenAborted(shared.value, signal);
    } finally {
      shared.callers--;
      if (shared.isPending && shared.callers === 0) {
        this.#forget(key, shared);
        shared.ending.abort(signal.reason);
      }
    }
  }

  /** Begins a new read for each key, as after a change. */
  forgetAll(): void {
    this.#reads.clear();
  }

  #start(key: string, call: (signal: AbortSignal) => Promise<Value>): Shared<Value> {
    const ending = new AbortController();
    const { limited } = this.#limits;
    const value = limited ? limited(ending.signal, () => call(ending.signal)) : call(ending.signal);
    const shared = { value, startedAt: performance.now(), ending, isPending: true, callers: 0 };
    value.then(
      () => (shared.isPending = false),
      () => this.#forget(key, shared),
    );
    return shared;
  }

  #forget(key: string, shared: Shared<Value>): void {
    if (this.#reads.get(key) === shared) this.#reads.delete(key);
  }

  #dropOldest(): void {
    let kept = 0;
    for (const [key, { isPending }] of [...this.#reads].reverse())
      if (!isPending && ++kept > this.#limits.maxKept) this.#reads.delete(key);
  }
}
