/** Decides which Subnets and IPPools the Pods of a namespace may use. Pure. */
import type { NamespaceRestriction } from '../../kubernetes/objects/subnet.ts';
import { matchesLabels } from '../../kubernetes/objects/label-selector.ts';
import type { NamespaceObject } from '../../kubernetes/objects/namespace.ts';
import type { ClusterView } from '../cluster-view.ts';

/**
 * Whether a restriction lists or selects a namespace. An empty restriction allows all namespaces.
 */
export function allowsNamespace(
  { namespaces, selectors }: NamespaceRestriction,
  { name, labels }: Pick<NamespaceObject, 'name' | 'labels'>,
): boolean {
  if (namespaces.length === 0 && selectors.length === 0) return true;
  return namespaces.includes(name) || selectors.some((selector) => matchesLabels(selector, labels));
}

/** Returns why a namespace's Pods may not use a Subnet, as a sentence. */
export function subnetAccessRefusal(
  subnet: string,
  namespace: string,
  { subnets, namespaceOf }: Pick<ClusterView, 'subnets' | 'namespaceOf'>,
): string | undefined {
  const restriction = subnets.restrictionOf(subnet);
  const labels = namespaceOf(namespace)?.labels ?? {};
  if (!restriction || allowsNamespace(restriction, { name: namespace, labels })) return undefined;
  const { namespaces, selectors } = restriction;
  const allowed = [
    namespaces.length > 0 ? formatNamespaces(namespaces) : '',
    selectors.length > 0 ? 'what its namespaceSelectors select' : '',
  ];
  return `Subnet ${subnet} is for ${allowed.filter((text) => text !== '').join(' and ')}, not for namespace ${namespace}: name another Subnet, or add ${namespace} to spec.namespaces of Subnet ${subnet}`;
}

/** Returns why a namespace may not use an IPPool, as a sentence. */
export function poolAccessRefusal(
  pool: string,
  namespace: string,
  { pools }: Pick<ClusterView, 'pools'>,
): string | undefined {
  const namespaces = pools.namespacesOf(pool);
  if (namespaces.length === 0 || namespaces.includes(namespace)) return undefined;
  return `IPPool ${pool} is for ${formatNamespaces(namespaces)}, not for namespace ${namespace}: name another IPPool, or add ${namespace} to spec.namespaces of IPPool ${pool}`;
}

/** The number of listed names, because the length of an Event is limited. */
const maxListed = 5;

function formatNamespaces(namespaces: readonly string[]): string {
  const rest = namespaces.length - maxListed;
  const names = namespaces.slice(0, maxListed).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  return `${namespaces.length === 1 ? 'namespace' : 'namespaces'} ${names}`;
}
