/** Test support: counts the claims and allocations that a function reads of a state, decoded or in part. */
import { AllocationBytes } from '../state/compact/allocation-bytes.ts';
import { ClaimBytes } from '../state/compact/claim-bytes.ts';

const readers = [
  [ClaimBytes.prototype, ['decode', 'outline', 'allocationsBoundOn']],
  [AllocationBytes.prototype, ['decode', 'decodeOnce', 'seqOf']],
] as const;

/** Runs a function. Returns its result, and the number of visits. */
export function countVisits<Result>(run: () => Result): { readonly result: Result; readonly visits: number } {
  let visits = 0;
  const undos: (() => void)[] = [];
  for (const [prototype, names] of readers)
    for (const name of names) {
      const methods = prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
      const original = methods[name];
      if (!original) continue;
      methods[name] = function (...args) {
        visits++;
        return original.apply(this, args);
      };
      undos.push(() => (methods[name] = original));
    }
  try {
    return { result: run(), visits };
  } finally {
    for (const undo of undos) undo();
  }
}
