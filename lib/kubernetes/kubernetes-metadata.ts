/** Finalizers, annotations and kinds of owners of ipledger and Kube-OVN. */
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

/** API groups whose kinds have no suffix. Other groups may have a "StatefulSet", too. */
const knownGroups = new Set(['', 'apps', 'batch', 'kubevirt.io']);

/** Returns the kind of an owner in the ledger, for example "StatefulSet.apps.kruise.io". */
export function ownerKind(apiVersion: string, kind: string): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return knownGroups.has(group) ? kind : `${kind}.${group}`;
}

/** The annotation of a Pod that waits: why it has no addresses. */
export const waitingAnnotation = 'ipledger.io/waiting';

const maxNameLength = 63;
const keyName = /^[a-z0-9]([-a-z0-9_.]*[a-z0-9])?$/;

/** Whether "<prefix>/<name>" can be the key of an annotation, in either letter case. */
export function isAnnotationKey(key: string): boolean {
  const slash = key.indexOf('/');
  const [prefix, name] = [key.slice(0, slash), key.slice(slash + 1)].map((text) => text.toLowerCase());
  return isDnsSubdomain(prefix ?? '') && (name ?? '').length <= maxNameLength && keyName.test(name ?? '');
}
