/** What a comparison must look at: everything, or some ports. */
import { rejectWhenAborted } from '../../lib/process/abortable.ts';

export class Scope {
  #ports = new Set<string>();
  #isAll = false;
  #isRequested = false;
  #requested = Promise.withResolvers<void>();

  /** Adds names of ports, or everything. No names: a comparison of nothing, which still checks the fence. */
  add(scope: 'all' | Iterable<string>): void {
    if (scope === 'all') this.#isAll = true;
    else for (const port of scope) this.#ports.add(port);
    this.#isRequested = true;
    this.#requested.resolve();
  }

  /** Resolves when something was added since the last `take`, or when the signal is aborted. */
  async wait(signal: AbortSignal): Promise<void> {
    await rejectWhenAborted(this.#requested.promise, signal).catch(() => undefined);
  }

  /** Returns what was added, and begins a new scope. */
  take(): 'all' | ReadonlySet<string> {
    const scope = this.#isAll ? 'all' : this.#ports;
    this.#ports = new Set();
    this.#isAll = false;
    if (this.#isRequested) this.#requested = Promise.withResolvers();
    this.#isRequested = false;
    return scope;
  }
}
