/** By what objects in Kubernetes are known to be the ledger's, or Kube-OVN's; and what the kinds of owners are called. */

/** Holds an object until the ledger has let go of what it stands for. */
export const finalizer = 'ipledger.io/ledger';

/** Marks an IP object as a projection, and names the event in the ledger that gave the address. */
export const allocationAnnotation = 'ipledger.io/allocation';

/** Kube-OVN's controller holds its objects by these; on one that it does not run on, nobody takes them away. */
export const kubeOvnFinalizers: ReadonlySet<string> = new Set([
  'kubeovn.io/kube-ovn-controller',
  'kube-ovn-controller',
]);

/** Kinds that are known by their name alone; of other groups, "StatefulSet" may be something else than Kubernetes' own. */
const knownGroups = new Set(['', 'apps', 'batch', 'kubevirt.io']);

/** An owner's kind, as the ledger is told; one of a foreign group has the group behind it: "StatefulSet.apps.kruise.io". */
export function ownerKind(apiVersion: string, kind: string): string {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return knownGroups.has(group) ? kind : `${kind}.${group}`;
}
