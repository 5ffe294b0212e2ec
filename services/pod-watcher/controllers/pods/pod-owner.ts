/** The controlling owner of a Pod in the ledger, and why a StatefulSet releases a member. */
import { ownerKind } from '../../../../lib/kubernetes/kubernetes-metadata.ts';
import { virtualMachineKind } from '../../../../lib/kubernetes/pod-identity.ts';
import { includesMember } from '../../../../lib/kubernetes/stateful-set.ts';
import type { Owner, ReleaseCause } from '../../../../proto/generated/ipledger.ts';
import { isLauncher } from '../../kubernetes/launcher-verifier.ts';
import type { Pod } from '../../kubernetes/objects/pod.ts';
import type { StatefulSet } from '../../kubernetes/objects/stateful-set.ts';

/**
 * Returns the controlling owner; undefined for a bare Pod. A virtual machine owns only launchers
 * that were verified: its Pods may be on two nodes, and its addresses are retained while it is
 * stopped.
 */
export function ownerOf(pod: Pick<Pod, 'name' | 'ledgerName' | 'controller' | 'assertedMachine'>): Owner | undefined {
  const owner = isLauncher(pod) ? pod.assertedMachine : pod.controller;
  if (!owner) return undefined;
  const { apiVersion, kind, name, uid } = owner;
  if (ownerKind(apiVersion, kind) === virtualMachineKind && !isLauncher(pod)) return undefined;
  return { kind: ownerKind(apiVersion, kind), name, uid };
}

/** Compares owners by name: a machine that is started again has another uid. */
export const isSameOwner = (one: Owner | undefined, other: Owner | undefined): boolean =>
  one?.kind === other?.kind && one?.name === other?.name;

/**
 * Returns why a StatefulSet will not create a member again; undefined while it will. As in
 * Kube-OVN, it will while it has the same uid, is not being deleted, and its ordinals, which start
 * at `spec.ordinals.start`, include the member.
 */
export function memberReleaseReason(
  set: StatefulSet | undefined,
  owner: Owner,
  member: number,
): ReleaseReason | undefined {
  const named = `StatefulSet ${owner.name} (uid ${owner.uid})`;
  if (!set) return ownerDeleted(`there is no ${named}`);
  if (set.uid !== owner.uid) return ownerDeleted(`there is no ${named}: the name belongs to uid ${set.uid} now`);
  if (set.deleting) return ownerDeleted(`${named} is being deleted`);
  const { firstOrdinal, replicas } = set;
  if (includesMember(set, member)) return undefined;
  const from = firstOrdinal === 0 ? '' : ` from ordinal ${firstOrdinal} on`;
  const evidence = `${named} has ${replicas} replicas${from}, and so no member ${member}`;
  return { cause: 'RELEASE_CAUSE_SCALED_DOWN', evidence };
}

export interface ReleaseReason {
  readonly cause: ReleaseCause;
  /** The observation, in words for people. */
  readonly evidence: string;
}

export const ownerDeleted = (evidence: string): ReleaseReason => ({ cause: 'RELEASE_CAUSE_OWNER_DELETED', evidence });

export const podDeleted = (evidence: string): ReleaseReason => ({ cause: 'RELEASE_CAUSE_POD_DELETED', evidence });
