/** Waits for the next commit. A stream of Watch waits after each one, so a wait creates no signal and no error. */
import type { Replica } from '../../../../ledger/log/reader/replica.ts';

export class CommitWaiter {
  readonly #signal: AbortSignal;
  readonly #stop: () => void;
  #hasCommitted = false;
  #wake: (() => void) | undefined;

  /** @param signal ends a wait */
  constructor(replica: Pick<Replica, 'onCommitted'>, signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#end);
    this.#stop = replica.onCommitted(() => {
      this.#hasCommitted = true;
      this.#wake?.();
    });
  }

  /** From now on, `wait` and `hasCommitted` are about later commits. */
  reset(): void {
    this.#hasCommitted = false;
  }

  /** Whether there was a commit since the last `reset`. */
  get hasCommitted(): boolean {
    return this.#hasCommitted;
  }

  /** Resolves when there was a commit since the last `reset`, after `ms` milliseconds, or with the signal. One wait at a time. */
  async wait(ms: number): Promise<void> {
    if (this.#hasCommitted || this.#signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#wake = resolve;
    await promise;
    this.#wake = undefined;
    clearTimeout(timer);
  }

  stop(): void {
    this.#stop();
    this.#signal.removeEventListener('abort', this.#end);
  }

  readonly #end = (): void => this.#wake?.();
}
