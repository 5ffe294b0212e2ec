import type { AllocationCause, ReleaseCause, UnbindCause } from '../proto/ipledger.ts';

/** A cause as the ledger's events write it: "pod-deleted". One that only a newer server knows comes as a number. */
export function causeText(cause: AllocationCause | ReleaseCause | UnbindCause | number): string {
  return String(cause)
    .replace(/^(ALLOCATION|RELEASE|UNBIND)_CAUSE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
}
