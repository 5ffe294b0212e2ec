/** Test support: counts the claims and allocations that are read from states. */
import { AllocationBytes } from '../state/compact/allocation-bytes.ts';
import { ClaimBytes } from '../state/compact/claim-bytes.ts';

const readers = [
  [ClaimBytes.prototype, ['decode', 'outline', 'allocationsBoundOn']],
  [AllocationBytes.prototype, ['decode', 'decodeOnce', 'seqOf']],
] as const;

/** Counts visits until the counter is disposed. */
export class VisitCounter implements Disposable {
  visits = 0;
  readonly #undos: (() => void)[] = [];

  constructor() {
    for (const [prototype, names] of readers)
      for (const name of names) {
        const methods = prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
        const original = methods[name];
        if (!original) continue;
        const count = (): void => void this.visits++;
        methods[name] = function (...args) {
          count();
          return original.apply(this, args);
        };
        this.#undos.push(() => (methods[name] = original));
      }
  }

  [Symbol.dispose](): void {
    for (const undo of this.#undos) undo();
  }
}

/** Runs a function. Returns its result, and the number of visits. */
export function countVisits<Result>(run: () => Result): { readonly result: Result; readonly visits: number } {
  using counter = new VisitCounter();
  const result = run();
  return { result, visits: counter.visits };
}
