/** Finalizers and annotations of ipledger and Kube-OVN, the keys of annotations, and the kinds of owners. */
import { isDnsSubdomain } from './ip-object-name.ts';

/** Keeps a deleted object until the ledger has retired or released it. */
export const finalizer = 'ipledger.io/ledger';

/** On an IP object that the watcher writes: the number of the event that made the allocation. */
export const allocationAnnotation = 'ipledger.io/allocation';

/** Finalizers of Kube-OVN's controller. Where it does not run, the watcher removes them. */
export const kubeOvnFinalizers: ReadonlySet<string> = new Set([
  'kubeovn.io/kube-ovn-controller',
  'kube-ovn-controller',
]);

/** API groups whose kinds have no group suffix. A "StatefulSet" of another group is not Kubernetes' own. */
const knownGroups = new Set(['', 'apps', 'batch', 'kubevirt.io']);

/** Returns the kind of an owner in the ledger; with the group appended for other groups: "StatefulSet.apps.kruise.io". */
export function ownerKind(apiVersion: string, kind: string): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return knownGroups.has(group) ? kind : `${kind}.${group}`;
}

/** The annotation of a Pod that waits: why it has no addresses. */
export const waitingAnnotation = 'ipledger.io/waiting';

const maxNameLength = 63;
const keyName = /^[a-z0-9]([-a-z0-9_.]*[a-z0-9])?$/;

/** Whether a text "<prefix>/<name>" can be the key of an annotation. The API accepts both letter cases. */
export function isAnnotationKey(key: string): boolean {
  const slash = key.indexOf('/');
  const [prefix, name] = [key.slice(0, slash), key.slice(slash + 1)].map((text) => text.toLowerCase());
  return isDnsSubdomain(prefix ?? '') && (name ?? '').length <= maxNameLength && keyName.test(name ?? '');
}
