/**
 * Decides whether an annotation alone is evidence of an address. A tenant can write it on its Pods. It counts only where the
 * tenant may request the same address: on a network that the Pod requests, in a Subnet and IPPools that are for its namespace. Pure.
 */
import { parseAddress } from '../../ledger/domain/addresses/address.ts';
import { contains, type Interval } from '../../ledger/domain/addresses/interval.ts';
import { poolIntervals } from '../../ledger/domain/state/pool.ts';
import type { KubeOvnPool, KubeOvnSubnet } from '../cluster/cluster-snapshot.ts';
import { addressesOf, type LeftOut } from './conflict.ts';
import type { ObservedAttachment } from './observed-attachments.ts';

/** IPPools that are for some namespaces only, by Subnet. */
export type RestrictedPools = ReadonlyMap<string, readonly RestrictedPool[]>;

interface RestrictedPool {
  readonly name: string;
  readonly namespaces: readonly string[];
  readonly intervals: Readonly<Record<4 | 6, readonly Interval[]>>;
}

export function findRestrictedPools(pools: readonly KubeOvnPool[]): RestrictedPools {
  const restricted = pools.filter(({ spec }) => spec.namespaces.length > 0);
  const all = restricted.map(({ name, spec }) => ({
    name,
    subnet: spec.subnet,
    namespaces: spec.namespaces,
    intervals: { 4: poolIntervals(spec, 4), 6: poolIntervals(spec, 6) },
  }));
  return Map.groupBy(all, ({ subnet }) => subnet);
}

/** Why an annotation is no evidence, as a clause, and what that leaves out; undefined if it is. */
export function annotationDoubt(
  attachment: ObservedAttachment,
  subnet: KubeOvnSubnet,
  pools: RestrictedPools,
): { readonly what: string; readonly leavesOut: LeftOut } | undefined {
  const { provider, isRequested, holder, addresses, boundOn } = attachment;
  const doubt = (what: string, leavesOut: LeftOut = {}) => ({
    what,
    leavesOut: { attachments: [attachment], ...leavesOut },
  });
  if (!isRequested) return doubt(`the Pod does not request network ${provider}`);
  if (![provider, 'ovn'].includes(subnet.spec.provider || 'ovn'))
    return doubt(`Subnet ${subnet.name} is of provider ${subnet.spec.provider}`);
  const isListed = subnet.namespaces.includes(holder.namespace);
  // The labels of the namespace may allow it, so that a container may have the address
  if (subnet.hasSelectors && !isListed && boundOn !== undefined) return undefined;
  if (subnet.hasSelectors && !isListed)
    return doubt(`Subnet ${subnet.name} has namespaceSelectors, and does not list namespace ${holder.namespace}`, {
      addresses: addressesOf([attachment]),
    });
  if (subnet.namespaces.length > 0 && !isListed)
    return doubt(`Subnet ${subnet.name} is not for namespace ${holder.namespace}`);
  const pool = pools
    .get(subnet.name)
    ?.find((each) => !each.namespaces.includes(holder.namespace) && addresses.some((address) => isIn(each, address)));
  return pool && doubt(`IPPool ${pool.name} is not for namespace ${holder.namespace}`);
}

function isIn({ intervals }: RestrictedPool, address: string): boolean {
  const parsed = parseAddress(address);
  return parsed !== undefined && contains(intervals[parsed.family], parsed.value);
}
