/** Who controls a Pod, as the ledger is told, and whether that owner will have the Pod's name again. */
import { ownerKind } from '../../../lib/marks.ts';
import { machineKind } from '../../../lib/pod-identity.ts';
import type { Owner, ReleaseCause } from '../../../proto/ipledger.ts';
import { isLauncher } from '../kubernetes/launchers.ts';
import type { Pod, StatefulSet } from '../kubernetes/objects.ts';

/**
 * The controlling owner; undefined for a bare Pod. A virtual machine is the owner of its launchers only, after it was seen: its
 * Pods may be on two nodes, and keep what they have while it is stopped.
 */
export function ownerOf(pod: Pick<Pod, 'name' | 'ledgerName' | 'controller' | 'claims'>): Owner | undefined {
  const owner = isLauncher(pod) ? pod.claims : pod.controller;
  if (!owner) return undefined;
  const { apiVersion, kind, name, uid } = owner;
  if (ownerKind(apiVersion, kind) === machineKind && !isLauncher(pod)) return undefined;
  return { kind: ownerKind(apiVersion, kind), name, uid };
}

/** Which member of its StatefulSet a Pod is: "web-2" is 2. Undefined for other Pods. */
export function memberOf({ name }: Pick<Pod, 'name'>, owner: Owner | undefined): number | undefined {
  if (owner?.kind !== 'StatefulSet' || !name.startsWith(`${owner.name}-`)) return undefined;
  const ordinal = name.slice(owner.name.length + 1);
  return /^\d{1,9}$/.test(ordinal) ? Number(ordinal) : undefined;
}

/** Why something is not needed any more, and how that is known. */
export interface Ending {
  readonly cause: ReleaseCause;
  readonly evidence: string;
}

/**
 * Why a StatefulSet will not have a member again; undefined while it will. As Kube-OVN has it, it will as long as it is the
 * same StatefulSet, is not being deleted, and counts that far; and it counts from `spec.ordinals.start`.
 */
export function whyNoMember(set: StatefulSet | undefined, owner: Owner, member: number): Ending | undefined {
  const named = `StatefulSet ${owner.name} (uid ${owner.uid})`;
  if (!set) return ownerDeleted(`there is no ${named}`);
  if (set.uid !== owner.uid) return ownerDeleted(`there is no ${named}: the name belongs to uid ${set.uid} now`);
  if (set.deleting) return ownerDeleted(`${named} is being deleted`);
  const { firstOrdinal, replicas } = set;
  if (member >= firstOrdinal && member < firstOrdinal + replicas) return undefined;
  const from = firstOrdinal === 0 ? '' : ` from ordinal ${firstOrdinal} on`;
  const evidence = `${named} wants ${replicas} replicas${from}, and so no member ${member}`;
  return { cause: 'RELEASE_CAUSE_SCALED_DOWN', evidence };
}

const ownerDeleted = (evidence: string): Ending => ({ cause: 'RELEASE_CAUSE_OWNER_DELETED', evidence });
