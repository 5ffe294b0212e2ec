/**
 * The annotations of a namespace that list its Subnets and IPPools, in Kube-OVN's keys. They select
 * the primary network of its Pods. Pure.
 *
 * Users may add names to a list: other annotations record the names that the watcher added.
 */
import type { SubnetSpec } from '../../../../proto/generated/ipledger.ts';
import type { NamespaceObject } from '../../kubernetes/objects/namespace.ts';
import { namespaceLimits } from '../../limits.ts';

const keys = {
  subnets: 'ovn.kubernetes.io/logical_switch',
  cidrs: 'ovn.kubernetes.io/cidr',
  excludes: 'ovn.kubernetes.io/exclude_ips',
  pools: 'ovn.kubernetes.io/ip_pool',
  ourSubnets: 'ipledger.io/subnets',
  ourPools: 'ipledger.io/ip-pools',
} as const;

/** The Subnets and IPPools that a namespace must list. */
export interface NamespaceResources {
  readonly subnets: readonly string[];
  readonly pools: readonly string[];
  /** The spec of a Subnet that is in force; undefined for other Subnets. */
  readonly specOf: (subnet: string) => Pick<SubnetSpec, 'cidrBlock' | 'excludeIps'> | undefined;
}

/** Returns a merge patch of the annotations; undefined if they are current or cannot be read. */
export function namespacePatch(
  { annotations, subnets, pools, problems }: NamespaceObject,
  bound: NamespaceResources,
): Record<string, string | null> | undefined {
  // Keeps a list over its limit, which reads as empty: a patch would erase its names.
  if (problems) return undefined;
  const ofSubnets = mergeNames(subnets, annotations[keys.ourSubnets] ?? '', bound.subnets);
  const ofPools = mergeNames(pools, annotations[keys.ourPools] ?? '', bound.pools);
  const desired: Record<string, string | null> = {};
  if (ofSubnets) {
    const specs = ofSubnets.all.flatMap((name) => bound.specOf(name) ?? []);
    const hasOwn = ofSubnets.ours.length > 0;
    desired[keys.subnets] = ofSubnets.all.join(',') || null;
    desired[keys.ourSubnets] = ofSubnets.ours.join(',') || null;
    desired[keys.cidrs] = hasOwn ? specs.map(({ cidrBlock }) => cidrBlock).join(';') : null;
    desired[keys.excludes] = hasOwn ? specs.map(({ excludeIps }) => excludeIps.join(',')).join(';') : null;
  }
  if (ofPools) {
    desired[keys.pools] = ofPools.all.join(',') || null;
    desired[keys.ourPools] = ofPools.ours.join(',') || null;
  }
  const changed = Object.entries(desired).filter(([key, value]) => (annotations[key] ?? null) !== value);
  return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}

/** Merges a user's names and the bound names; undefined if the watcher adds or added none. */
function mergeNames(
  listed: readonly string[],
  recorded: string,
  bound: readonly string[],
): { readonly all: readonly string[]; readonly ours: readonly string[] } | undefined {
  const before = recorded.split(',').filter((name) => name !== '');
  if (before.length === 0 && bound.length === 0) return undefined;
  const manual = listed.filter((name) => !before.includes(name));
  // Limits the list: a longer one would be rejected when the namespace is read again.
  const room = namespaceLimits.names - manual.length;
  const ours = bound.filter((name) => !manual.includes(name)).slice(0, room);
  return { all: [...manual, ...ours], ours };
}
