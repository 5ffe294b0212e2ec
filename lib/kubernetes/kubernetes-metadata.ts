/** Finalizers, annotations and owner kinds of ipledger and Kube-OVN. */
import { isDnsSubdomain } from './ip-object-name.ts';

/** Keeps a deleted object until the ledger has retired its subnet or released its address. */
export const finalizer = 'ipledger.io/ledger';

/** Names the event of the allocation on an IP object that the pod-watcher writes. */
export const allocationAnnotation = 'ipledger.io/allocation';

/** The finalizers of Kube-OVN's controller. If it does not run, the pod-watcher removes them. */
export const kubeOvnFinalizers: ReadonlySet<string> = new Set([
  'kubeovn.io/kube-ovn-controller',
  'kube-ovn-controller',
]);

/** The API groups whose kinds get no suffix. Other groups may also have a "StatefulSet". */
const knownGroups = new Set(['', 'apps', 'batch', 'kubevirt.io']);

/** Returns the kind of an owner in the ledger, such as "StatefulSet.apps.kruise.io". */
export function ownerKind(apiVersion: string, kind: string): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return knownGroups.has(group) ? kind : `${kind}.${group}`;
}

/** The annotation that states on a waiting Pod why it has no addresses. */
export const waitingAnnotation = 'ipledger.io/waiting';

const maxNameLength = 63;
const keyName = /^[a-z0-9]([-a-z0-9_.]*[a-z0-9])?$/;

/** Whether "<prefix>/<name>" can be the key of an annotation, in either letter case. */
export function isAnnotationKey(key: string): boolean {
  const slash = key.indexOf('/');
  const [prefix, name] = [key.slice(0, slash), key.slice(slash + 1)].map((text) => text.toLowerCase());
  return isDnsSubdomain(prefix ?? '') && (name ?? '').length <= maxNameLength && keyName.test(name ?? '');
}
