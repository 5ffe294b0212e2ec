/** Finds the Subnets in which an address may be that is not imported, so that no Pod gets it there. Pure. */
import type { KubeOvnSubnet } from '../cluster/cluster-snapshot.ts';
import type { SubnetAddress } from '../kube-ovn-import/conflict.ts';
import { subnetContains } from '../kube-ovn-import/subnet-contains.ts';
import { configurationName, type Match, type MatchContext, providerOf } from './match-address.ts';
import type { SourceAddress } from './source-address.ts';

/**
 * Returns the function of one address: the Subnet of `--map`, else the Subnets of the imported addresses of its network, else those
 * of a NetworkAttachmentDefinition with that name.
 */
export function createPlaceFinder(
  matches: readonly Match[],
  { map, subnets, networks }: MatchContext,
): (about: Pick<SourceAddress, 'network' | 'address'>) => SubnetAddress[] {
  const byName = new Map(subnets.map((subnet) => [subnet.name, subnet]));
  const byProvider = Map.groupBy(subnets, providerOf);
  const candidates = new Map<string, Set<KubeOvnSubnet>>();
  const add = (network: string, subnet: KubeOvnSubnet): void =>
    void candidates.set(network, (candidates.get(network) ?? new Set()).add(subnet));
  for (const { source, subnet } of matches) add(source.network, subnet);
  const imported = new Set(candidates.keys());
  for (const key of networks.keys()) {
    const [name, provider] = [configurationName(key, networks), key.split('/').reverse().join('.')];
    if (!imported.has(name)) for (const subnet of byProvider.get(provider) ?? []) add(name, subnet);
  }
  return ({ network, address }) => {
    const mapped = byName.get(map.get(network) ?? '');
    const places = mapped ? [mapped] : [...(candidates.get(network) ?? [])];
    return places.filter((subnet) => subnetContains(subnet, address)).map(({ name: subnet }) => ({ subnet, address }));
  };
}
