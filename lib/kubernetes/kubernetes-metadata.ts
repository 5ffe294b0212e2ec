/** Finalizers and annotations of ipledger and Kube-OVN, and the kinds of owners. */

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
