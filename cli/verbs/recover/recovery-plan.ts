/** Plans the recovery of a restored ledger: what it lacks of the cluster's state, and which allocations are outdated. Pure. */
import { allocationKey, observedKey } from '../../kube-ovn-import/attachment-key.ts';
import { isRetained } from '../../cluster/address-retention.ts';
import { type ObservedAttachment, findObservedAttachments } from '../../kube-ovn-import/observed-attachments.ts';
import type { KubeOvnPool, KubeOvnSubnet, ClusterSnapshot } from '../../cluster/cluster-snapshot.ts';
import type { Allocation, Pool, Subnet } from '../../../proto/generated/ipledger.ts';

/** The state of the restored ledger. */
export interface LedgerContents {
  readonly allocations: readonly Allocation[];
  readonly subnets: readonly Pick<Subnet, 'name'>[];
  readonly pools: readonly Pick<Pool, 'name'>[];
}

/** An outdated allocation. Releases precede imports. */
export interface PlannedRelease {
  readonly allocation: Allocation;
  readonly reason: string;
}

export interface RecoveryPlan {
  /** Subnets and pools of the cluster that the ledger lacks. */
  readonly subnets: readonly KubeOvnSubnet[];
  readonly pools: readonly KubeOvnPool[];
  readonly releases: readonly PlannedRelease[];
  /** Attachments of Pods that the ledger lacks. */
  readonly imports: readonly ObservedAttachment[];
}

/** Empty if ledger and cluster agree. */
export function planRecovery(snapshot: ClusterSnapshot, ledger: LedgerContents): RecoveryPlan {
  const observed = findObservedAttachments(snapshot, true);
  const byAttachment = new Map(ledger.allocations.map((allocation) => [allocationKey(allocation), allocation]));
  const imports = observed.filter((each) => !isSame(each, byAttachment.get(observedKey(each))));
  const subnetNames = new Set(ledger.subnets.map(({ name }) => name));
  const poolNames = new Set(ledger.pools.map(({ name }) => name));
  return {
    subnets: snapshot.subnets.filter(({ name }) => !subnetNames.has(name)),
    pools: snapshot.pools.filter(({ name }) => !poolNames.has(name)),
    releases: ledger.allocations.flatMap((allocation) => {
      const reason = explainRelease(allocation, { snapshot, observed, imports });
      return reason === undefined ? [] : [{ allocation, reason }];
    }),
    imports,
  };
}

const addressesOf = ({ addresses }: Allocation): string[] => addresses.map(({ address }) => address).toSorted();

const isSame = ({ holder, subnet, addresses }: ObservedAttachment, allocation: Allocation | undefined): boolean =>
  allocation !== undefined &&
  allocation.podUid === holder.uid &&
  allocation.subnet === subnet &&
  addressesOf(allocation).join() === addresses.toSorted().join();

interface Evidence {
  readonly snapshot: ClusterSnapshot;
  readonly observed: readonly ObservedAttachment[];
  readonly imports: readonly ObservedAttachment[];
}

/** Undefined for an allocation that stays. */
function explainRelease(allocation: Allocation, { snapshot, observed, imports }: Evidence): string | undefined {
  const own = imports.find((each) => observedKey(each) === allocationKey(allocation));
  if (own) return `the Pod uses ${own.addresses.join(',')} and has uid ${own.holder.uid}`;
  const allocated = addressesOf(allocation);
  const user = imports.find(
    ({ subnet, addresses }) => subnet === allocation.subnet && addresses.some((each) => allocated.includes(each)),
  );
  if (user) return `Pod ${user.holder.namespace}/${user.holder.name} uses it`;
  const isObserved = observed.some((each) => observedKey(each) === allocationKey(allocation));
  if (isObserved || isRetained(allocation, snapshot)) return undefined;
  const { namespace, pod } = allocation.attachment ?? {};
  const exists = snapshot.pods.some(
    (each) =>
      each.namespace === namespace && (each.ledgerName ?? each.name) === pod && each.identity === allocation.podUid,
  );
  return exists ? undefined : 'its Pod does not exist';
}
