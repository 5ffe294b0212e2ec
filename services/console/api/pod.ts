/** GET /api/v1/pods/NAMESPACE/NAME. */
import type { AllocationRow } from './address.ts';
import type { EventRow } from './event.ts';
import type { Page } from './page.ts';

/** Query: `limit`, `page`. The events of all Pods of that name, newest first. */
export interface PodPage extends Page<EventRow> {
  readonly namespace: string;
  readonly pod: string;
  /** The current allocations; on the first page only. */
  readonly allocations: readonly AllocationRow[];
  /** Sentences about why the Pod has these addresses, or none. On the first page only. */
  readonly why: readonly string[];
}
