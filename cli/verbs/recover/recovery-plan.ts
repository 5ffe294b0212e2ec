/**
 * Plans the recovery of a restored ledger: what it lacks of the cluster's state, and which
 * allocations are outdated. Pure.
 *
 * The evidence of an address, the strongest first:
 *   1. an allocation of the ledger that has a binding, of a Pod that runs
 *   2. an IP object that the pod-watcher wrote, or an event of an export, of a later allocation
 *   3. an allocation of another Pod that runs
 *   4. a binding file of the Pod's node
 *   5. an allocation of a Pod that has ended, or whose owner will create it again
 *   6. an annotation of a Pod, which its tenant can write, if the tenant may request that address
 *     and nothing else shows it
 * A conflict of two of one rank has no winner. It is left out, and a person decides.
 */
import { hasEnded, isRetained } from '../../cluster/needed-addresses.ts';
import { checkAttachments, findContests } from '../../import/check-attachments.ts';
import {
  addressesOf,
  allocatedAddressesOf,
  type Conflict,
  leaveOutConflicts,
  leaveUndecided,
  type PlannedQuarantine,
  subnetAddressKey,
} from '../../import/conflict.ts';
import { findObservedAttachments } from '../../import/find-attachments.ts';
import {
  allocationKey,
  formatHolder,
  isProven,
  type ObservedAttachment,
  observedKey,
} from '../../import/observed-attachment.ts';
import type { KubeOvnIp, KubeOvnPool, KubeOvnSubnet, ClusterSnapshot } from '../../cluster/cluster-snapshot.ts';
import { formatAllocation } from '../../output/format.ts';
import { isStaticIdentity } from '../../../lib/kubernetes/pod-identity.ts';
import { formatPodName } from '../../../lib/ledger-text/texts.ts';
import { addEvidence, type Evidence, recordSeq } from './add-evidence.ts';
import type { Allocation, Pool, SandboxBinding, Subnet } from '../../../proto/generated/ipledger.ts';

/** The state of the restored ledger. */
export interface LedgerContents {
  readonly allocations: readonly Allocation[];
  /** The bindings, also of released addresses. */
  readonly bindings: readonly SandboxBinding[];
  readonly subnets: readonly Pick<Subnet, 'name'>[];
  readonly pools: readonly Pick<Pool, 'name'>[];
}

/** An outdated allocation, which is released before the imports. */
export interface PlannedRelease {
  readonly allocation: Allocation;
  readonly reason: string;
}

export interface RecoveryPlan {
  /** Subnets and pools of the cluster that the ledger lacks. */
  readonly subnets: readonly KubeOvnSubnet[];
  readonly pools: readonly KubeOvnPool[];
  readonly releases: readonly PlannedRelease[];
  /** Bindings of an address that another Pod got later. Nodes end other bindings. */
  readonly staleBindings: readonly SandboxBinding[];
  /** Attachments of Pods that the ledger lacks. */
  readonly imports: readonly ObservedAttachment[];
  /** The conflicts, which the plan leaves out. */
  readonly conflicts: readonly Conflict[];
  readonly quarantines: readonly PlannedQuarantine[];
}

/** Plans a recovery. The plan is empty if ledger and cluster agree. */
export function planRecovery(
  snapshot: ClusterSnapshot,
  ledger: LedgerContents,
  evidence: Evidence = { exported: [], bound: [] },
): RecoveryPlan {
  const allocations = indexAllocations(snapshot, ledger);
  const observed = addEvidence(findObservedAttachments(snapshot, true), evidence, snapshot);
  const disputed = new Set(observed.conflicts.flatMap(({ leavesOut }) => leavesOut?.attachments ?? []));
  const undisputed = observed.attachments.filter((each) => !disputed.has(each));
  const missing = undisputed.filter((each) => !isKnown(each, allocations.byAttachment.get(observedKey(each))));
  const checked = checkAttachments(missing, snapshot);
  const rivals = new Map(checked.attachments.map((each) => [each, allocations.rivalsOf(each)]));
  const lost = checked.attachments.flatMap((each): Conflict[] => {
    const stronger = rivals.get(each)?.find((rival) => isStronger(rival, each));
    return stronger ? [inLedger(each, stronger.allocation)] : [];
  });
  const leftOut = new Set(lost.flatMap(({ leavesOut }) => leavesOut?.attachments ?? []));
  const contests = findContests(checked.attachments.filter((each) => !leftOut.has(each)));
  const deleted = findDeletedHolders(snapshot, allocations, observed.attachments);
  const conflicts = [...observed.conflicts, ...checked.conflicts, ...lost, ...contests, ...deleted];
  const { attachments: imports, quarantines } = leaveOutConflicts(
    { attachments: checked.attachments, leftovers: [], reservations: [] },
    conflicts,
    { subnets: snapshot.subnets, allocations: allocations.lasting },
  );
  const replaced = new Map(
    imports.flatMap((each) =>
      (rivals.get(each) ?? [])
        .filter(({ allocation }) => !isEarlierPod(allocation, each))
        .map(({ allocation }) => [allocation, each] as const),
    ),
  );
  const transferred = new Set(imports.map(observedKey));
  const subnetNames = new Set(ledger.subnets.map(({ name }) => name));
  const poolNames = new Set(ledger.pools.map(({ name }) => name));
  return {
    subnets: snapshot.subnets.filter(({ name }) => !subnetNames.has(name)),
    pools: snapshot.pools.filter(({ name }) => !poolNames.has(name)),
    releases: allocations.all.flatMap((known): PlannedRelease[] => {
      const { allocation } = known;
      const replacement = replaced.get(allocation);
      if (replacement && isProven(replacement)) {
        const reason = `${formatEvidence(replacement)} shows ${replacement.addresses.join()} for ${formatHolder(replacement)}`;
        return [{ allocation, reason }];
      }
      if (isLasting(known) || transferred.has(allocationKey(allocation))) return [];
      return [{ allocation, reason: 'its Pod does not exist' }];
    }),
    staleBindings: findStaleBindings(imports, ledger, snapshot),
    imports,
    conflicts,
    quarantines,
  };
}

/** An allocation, and what the cluster shows of its Pod. */
interface KnownAllocation {
  readonly allocation: Allocation;
  /** Whether a Pod of this uid exists. */
  readonly exists: boolean;
  /** Whether the Pod has not ended. */
  readonly runs: boolean;
  readonly isRetained: boolean;
}

/** Whether an allocation is kept, unless an import replaces it. */
const isLasting = ({ allocation, exists, isRetained: retained }: KnownAllocation): boolean =>
  exists ||
  retained ||
  // The mirror of a static Pod may be absent while its container runs
  (isStaticIdentity(allocation.podUid) && allocation.bindings.length > 0);

function indexAllocations(snapshot: ClusterSnapshot, { allocations }: LedgerContents) {
  const keyOf = (namespace: string, name: string, uid: string): string => `${namespace}/${name} ${uid}`;
  const pods = Map.groupBy(snapshot.pods, (pod) => keyOf(pod.namespace, pod.ledgerName ?? pod.name, pod.identity));
  const all = allocations.map((allocation): KnownAllocation => {
    const { namespace = '', pod = '' } = allocation.attachment ?? {};
    const own = pods.get(keyOf(namespace, pod, allocation.podUid)) ?? [];
    return {
      allocation,
      exists: own.length > 0,
      runs: own.some((each) => !hasEnded(each)),
      isRetained: isRetained(allocation, snapshot),
    };
  });
  const byAttachment = new Map(all.map((each) => [allocationKey(each.allocation), each]));
  const byAddress = new Map(
    all.flatMap((each) =>
      each.allocation.addresses.map(({ address }) => [`${each.allocation.subnet}/${address}`, each] as const),
    ),
  );
  /** The allocations that an import of the attachment would end. */
  const rivalsOf = (observed: ObservedAttachment): KnownAllocation[] => {
    const own = byAttachment.get(observedKey(observed));
    const holders = observed.addresses.flatMap((address) => byAddress.get(`${observed.subnet}/${address}`) ?? []);
    return [...new Set([...(own ? [own] : []), ...holders])];
  };
  const lasting = all.filter(isLasting).map(({ allocation }) => allocation);
  return { all, lasting, byAttachment, rivalsOf };
}

/** Whether the ledger has what the cluster shows, or something later. */
function isKnown(observed: ObservedAttachment, own?: KnownAllocation): boolean {
  if (!own) return false;
  const { allocation } = own;
  const { holder, subnet, addresses, ipObject } = observed;
  if (observed.isRecorded && recordSeq(observed) <= allocation.seq) return true;
  // The uid of an absent member is unknown
  const isSamePod = allocation.podUid === holder.uid || holder.uid === ipObject?.uid;
  const allocated = allocation.addresses.map(({ address }) => address);
  return isSamePod && allocation.subnet === subnet && allocated.toSorted().join() === addresses.toSorted().join();
}

/** Whether an allocation has precedence over what the cluster shows of another attachment. */
function isStronger(
  { allocation, exists, runs, isRetained: retained }: KnownAllocation,
  observed: ObservedAttachment,
): boolean {
  // An earlier Pod of the name does not exist any more. Its address is transferred, or stays held
  // while it is bound
  if (isEarlierPod(allocation, observed)) return false;
  const isBound = allocation.bindings.length > 0;
  const isInUse = runs && isBound;
  // A NIC gets another address only after the release of the earlier one
  const isSameNic = allocationKey(allocation) === observedKey(observed) && allocation.podUid === observed.holder.uid;
  if (observed.isRecorded && recordSeq(observed) > allocation.seq) return isInUse && !isSameNic;
  // A node shows what its own Pods have, and takes nothing from a Pod that runs
  if (observed.boundOn !== undefined) return isInUse || (runs && allocationKey(allocation) !== observedKey(observed));
  return observed.isRecorded || exists || retained || isBound;
}

const isEarlierPod = (allocation: Allocation, observed: ObservedAttachment): boolean =>
  allocationKey(allocation) === observedKey(observed) && allocation.podUid !== observed.holder.uid;

function formatEvidence({ isRecorded, exportedAs, ipObject, boundOn }: ObservedAttachment): string {
  if (exportedAs !== undefined) return `event ${exportedAs} of the export`;
  if (isRecorded) return ipObject ? `IP object ${ipObject.name}` : 'an IP object';
  return boundOn === undefined ? 'only its annotation' : `a binding file of node ${boundOn}`;
}

function inLedger(observed: ObservedAttachment, allocation: Allocation): Conflict {
  return {
    kind: 'in the ledger',
    where: formatHolder(observed),
    what: `${formatEvidence(observed)} has ${observed.addresses.join()} of Subnet ${observed.subnet}; in the ledger Pod ${formatPodName(allocation.attachment)} has ${formatAllocation(allocation)}`,
    remedy: 'run `ip addr` in the containers, and delete the wrong Pod',
    leavesOut: isProven(observed) ? leaveUndecided([observed]) : { attachments: [observed] },
  };
}

/**
 * Finds the addresses that IP objects show for deleted Pods, unless the ledger has their bindings.
 * Their release was not recorded before the restore, and their containers may still run. Their uids
 * are unknown, so they cannot be imported for the pod-watcher to release them. A Pod that claims
 * such an address by its annotation only does not get it.
 */
function findDeletedHolders(
  { ips }: ClusterSnapshot,
  { all, lasting }: Pick<ReturnType<typeof indexAllocations>, 'all' | 'lasting'>,
  observed: readonly ObservedAttachment[],
): Conflict[] {
  const holders = new Set(
    [...addressesOf(observed.filter(isProven)), ...allocatedAddressesOf(lasting)].map(subnetAddressKey),
  );
  const claims = observed.filter((each) => !isProven(each));
  const claimsOf = Map.groupBy(
    claims.flatMap((claim) => addressesOf([claim]).map((each) => ({ claim, key: subnetAddressKey(each) }))),
    ({ key }) => key,
  );
  // Their bindings keep the addresses when the allocation is released
  const bound = new Set(
    all
      .filter(({ allocation }) => allocation.bindings.length > 0)
      .flatMap(({ allocation }) =>
        allocatedAddressesOf([allocation]).map((each) => `${allocation.seq} ${subnetAddressKey(each)}`),
      ),
  );
  const isClaimedByOwn = (ip: KubeOvnIp, key: string): boolean =>
    (claimsOf.get(key) ?? []).some(
      ({ claim: { holder } }) => holder.namespace === ip.namespace && holder.name === ip.pod,
    );
  return ips.flatMap((ip): Conflict[] => {
    const addresses = addressesOf([ip]).filter((each) => {
      const key = subnetAddressKey(each);
      return !holders.has(key) && !bound.has(`${ip.allocation} ${key}`) && !isClaimedByOwn(ip, key);
    });
    if (ip.allocation === 0 || addresses.length === 0) return [];
    const shown = addresses.map(({ address }) => address).join();
    const claimants = new Set(
      addresses.flatMap((each) => claimsOf.get(subnetAddressKey(each)) ?? []).map(({ claim }) => claim),
    );
    return [
      {
        kind: 'deleted Pod',
        where: `IP object ${ip.name}`,
        what: `${shown} of Subnet ${ip.subnet} has no binding in the ledger, and Pod ${ip.namespace}/${ip.pod} is deleted`,
        remedy: 'when none of its containers runs any more, run `ipledger unquarantine`',
        leavesOut: { addresses },
      },
      ...Array.from(claimants, (claim): Conflict => ({
        kind: 'no evidence',
        where: formatHolder(claim),
        what: `only its annotation has ${claim.addresses.join()} of Subnet ${claim.subnet}, and IP object ${ip.name} has ${shown}`,
        remedy: 'delete the Pod, so that it is created again',
        leavesOut: { attachments: [claim] },
      })),
    ];
  });
}

/**
 * Finds the bindings that an import replaces. The allocator gave the address to a Pod of another
 * name only when no container could answer on it any more, so the later record proves that the
 * binding ended. While the Pod of a binding runs, its bindings stay. If the ledger has its uid no
 * longer, this is each Pod of its name.
 */
function findStaleBindings(
  imports: readonly ObservedAttachment[],
  { allocations, bindings }: LedgerContents,
  { pods }: ClusterSnapshot,
): SandboxBinding[] {
  const imported = new Map(
    imports
      .filter(({ isRecorded }) => isRecorded)
      .flatMap((each) => each.addresses.map((address) => [`${each.subnet}/${address}`, each] as const)),
  );
  const running = new Set(
    pods
      .filter((pod) => !hasEnded(pod))
      .map(({ namespace, name, ledgerName = name, identity }) => [`${namespace}/${ledgerName}`, identity])
      .flatMap(([pod, uid]) => [pod, `${pod} ${uid}`]),
  );
  const uids = new Map(allocations.map(({ seq, podUid }) => [seq, podUid]));
  return bindings.filter(({ attachment, subnet, addresses, allocationSeq }) => {
    const pod = formatPodName(attachment);
    const uid = uids.get(allocationSeq);
    return addresses.every((address) => {
      const successor = imported.get(`${subnet}/${address}`);
      return (
        successor !== undefined &&
        recordSeq(successor) > allocationSeq &&
        `${successor.holder.namespace}/${successor.holder.name}` !== pod &&
        !running.has(uid === undefined ? pod : `${pod} ${uid}`)
      );
    });
  });
}
