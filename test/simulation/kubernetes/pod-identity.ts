/** What a Pod object is for the ledger. */
import { asRecord, asText } from '../../../lib/kubernetes/untyped-json.ts';
import type { StoredObject } from './api-server.ts';
import { isDeleting, nameOf, networksAnnotation, ownerOf, phaseOf, uidOf } from './cluster-user.ts';

/** Whether its containers have ended for good. */
export const hasEnded = (pod: StoredObject): boolean => ['Succeeded', 'Failed'].includes(phaseOf(pod));

/** Whether it needs its addresses. */
export const isLiving = (pod: StoredObject): boolean => !isDeleting(pod) && !hasEnded(pod);

export const usesHostNetwork = (pod: StoredObject): boolean => asRecord(pod['spec'])['hostNetwork'] === true;

/** The secondary networks that it requests. */
export const requestedNetworks = (pod: StoredObject): string[] =>
  usesHostNetwork(pod)
    ? []
    : asText(asRecord(pod.metadata['annotations'])[networksAnnotation]).split(',').filter(Boolean);

export interface LedgerIdentity {
  readonly name: string;
  readonly uid: string;
  /** A mirror has the uid of its static Pod. */
  readonly isStatic: boolean;
}

/** The name and uid in the ledger. */
export function identityOf(pod: StoredObject): LedgerIdentity {
  const machine = machineOf(pod);
  if (machine) return { ...machine, isStatic: false };
  const hash = mirrorHashOf(pod);
  return { name: nameOf(pod), uid: hash === '' ? uidOf(pod) : hash, isStatic: hash !== '' };
}

/** Whether a Pod of this name and uid in the ledger is among these, and needs its addresses. */
export const hasLivingPod = (
  pods: readonly StoredObject[],
  { name, uid }: Pick<LedgerIdentity, 'name' | 'uid'>,
): boolean =>
  pods
    .filter(isLiving)
    .map(identityOf)
    .some((each) => each.name === name && each.uid === uid);

/** The machine of a launcher Pod. */
export function machineOf(pod: StoredObject): { readonly name: string; readonly uid: string } | undefined {
  const { kind, name, uid } = ownerOf(pod);
  return kind === 'VirtualMachineInstance' ? { name: asText(name), uid: asText(uid) } : undefined;
}

/** The hash of a mirror's static Pod; '' for other Pods. */
export const mirrorHashOf = ({ metadata }: StoredObject): string =>
  asText(asRecord(metadata['annotations'])['kubernetes.io/config.mirror']);
