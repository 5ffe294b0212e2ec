/** Formats causes of allocations, releases and unbinds. */
import type { AllocationCause, ReleaseCause, UnbindCause } from '../../proto/generated/ipledger.ts';

/** A cause as the stored events spell it: "pod-deleted". A cause of a newer server is a number. */
export function formatCause(cause: AllocationCause | ReleaseCause | UnbindCause | number): string {
  return String(cause)
    .replace(/^(ALLOCATION|RELEASE|UNBIND)_CAUSE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
}
