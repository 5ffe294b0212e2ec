/** An allocation of the ledger, reduced to the fields that pod-watcher uses. */
import { keyOf } from '../../../lib/kubernetes/client/informer.ts';
import type { AssignedAddress, Owner } from '../../../proto/generated/ipledger.ts';
import type { NamespacedName } from '../namespaced-map.ts';

/** An allocation that a Pod holds. */
export interface HeldAllocation {
  /** The number of the event that made it; identifies the allocation. */
  readonly seq: number;
  readonly namespace: string;
  readonly pod: string;
  /** The uid of the Pod in the ledger. */
  readonly uid: string;
  readonly provider: string;
  readonly ordinal: number;
  readonly subnet: string;
  /** IPv4 first. */
  readonly addresses: readonly AssignedAddress[];
  readonly mac: string;
  /** As requested, or as bound; "" while unknown. */
  readonly interface: string;
  /** The Node of the binding, else the Node of the Pod at allocation; "" while unknown. */
  readonly node: string;
  /** The controller of the Pod at allocation; undefined without one. */
  readonly owner: Owner | undefined;
}

type PodOfAllocation = Pick<HeldAllocation, 'namespace' | 'pod'>;

/** The name of the Pod of an allocation. */
export const podNameOf = ({ namespace, pod }: PodOfAllocation): NamespacedName => ({ namespace, name: pod });

/** The key of that name (`keyOf`). */
export const podKeyOf = (allocation: PodOfAllocation): string => keyOf(podNameOf(allocation));
