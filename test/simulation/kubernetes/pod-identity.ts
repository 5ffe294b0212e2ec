/** What a Pod object is for the ledger. */
import { asRecord, asText } from '../../../lib/kubernetes/untyped-json.ts';
import type { StoredObject } from './api-server.ts';
import { isDeleting, nameOf, ownerOf, phaseOf, uidOf } from './cluster-user.ts';

/** Whether it needs its addresses. */
export const isLiving = (pod: StoredObject): boolean =>
  !isDeleting(pod) && !['Succeeded', 'Failed'].includes(phaseOf(pod));

export interface LedgerIdentity {
  readonly name: string;
  readonly uid: string;
  /** A mirror has the uid of its static Pod. */
  readonly isStatic: boolean;
}

/** The name and uid in the ledger. */
export function identityOf(pod: StoredObject): LedgerIdentity {
  const owner = ownerOf(pod);
  if (owner['kind'] === 'VirtualMachineInstance')
    return { name: asText(owner['name']), uid: asText(owner['uid']), isStatic: false };
  const hash = asText(asRecord(pod.metadata['annotations'])['kubernetes.io/config.mirror']);
  return { name: nameOf(pod), uid: hash === '' ? uidOf(pod) : hash, isStatic: hash !== '' };
}
