/** Which Subnets, IPPools and Vips the Pods of a namespace may use. Pure. */
import type { SubnetBinding } from '../kubernetes/kept-objects.ts';
import { selects } from '../kubernetes/label-selector.ts';
import type { NamespaceObject } from '../kubernetes/objects.ts';
import type { Sight } from './sight.ts';

/** Whether a binding lists or selects a namespace; one that says nothing is for all. */
export function isOpenTo(
  { namespaces, selectors }: SubnetBinding,
  { name, labels }: Pick<NamespaceObject, 'name' | 'labels'>,
): boolean {
  if (namespaces.length === 0 && selectors.length === 0) return true;
  return namespaces.includes(name) || selectors.some((selector) => selects(selector, labels));
}

/** Why the Pods of a namespace may not be served from a Subnet, as a sentence; undefined if they may. */
export function whyNoSubnet(
  subnet: string,
  namespace: string,
  { subnets, namespaceOf }: Pick<Sight, 'subnets' | 'namespaceOf'>,
): string | undefined {
  const binding = subnets.bindingOf(subnet);
  const labels = namespaceOf(namespace)?.labels ?? {};
  if (!binding || isOpenTo(binding, { name: namespace, labels })) return undefined;
  const { namespaces, selectors } = binding;
  const whose = [
    namespaces.length > 0 ? listed(namespaces) : '',
    selectors.length > 0 ? 'what its namespaceSelectors select' : '',
  ];
  return `Subnet ${subnet} is for ${whose.filter((text) => text !== '').join(' and ')}, not for namespace ${namespace}: name another Subnet, or add ${namespace} to spec.namespaces of Subnet ${subnet}`;
}

/** The same of an IPPool. */
export function whyNoPool(pool: string, namespace: string, { pools }: Pick<Sight, 'pools'>): string | undefined {
  const namespaces = pools.namespacesOf(pool);
  if (namespaces.length === 0 || namespaces.includes(namespace)) return undefined;
  return `IPPool ${pool} is for ${listed(namespaces)}, not for namespace ${namespace}: name another IPPool, or add ${namespace} to spec.namespaces of IPPool ${pool}`;
}

/** An Event is short. */
const mostListed = 5;

function listed(namespaces: readonly string[]): string {
  const rest = namespaces.length - mostListed;
  const names = namespaces.slice(0, mostListed).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  return `${namespaces.length === 1 ? 'namespace' : 'namespaces'} ${names}`;
}
