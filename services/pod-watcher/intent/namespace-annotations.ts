/**
 * What Subnets and IPPools say of the namespaces that they are for, on the namespaces themselves, where Kube-OVN says it: Pods
 * look there for the Subnets of their primary network. Pure.
 *
 * Whoever writes a Subnet into a namespace's list by hand keeps it there: what we added is remembered beside it.
 */
import type { SubnetSpec } from '../../../proto/ipledger.ts';
import type { SubnetObject } from '../kubernetes/kept-objects.ts';
import type { NamespaceObject } from '../kubernetes/objects.ts';
import { namespaceLimits } from '../limits.ts';
import { primaryProvider } from './subnets.ts';
import { isOpenTo } from './tenancy.ts';

const keys = {
  subnets: 'ovn.kubernetes.io/logical_switch',
  cidrs: 'ovn.kubernetes.io/cidr',
  excludes: 'ovn.kubernetes.io/exclude_ips',
  pools: 'ovn.kubernetes.io/ip_pool',
  ourSubnets: 'ipledger.io/subnets',
  ourPools: 'ipledger.io/ip-pools',
} as const;

/** Whether a Subnet is for a namespace. Only those of the primary network are for namespaces; others are named by their networks. */
export function isFor({ spec, binding, deleting }: SubnetObject, { name, labels }: NamespaceObject): boolean {
  if (deleting || (spec.provider || primaryProvider) !== primaryProvider) return false;
  const isBound = binding.namespaces.length > 0 || binding.selectors.length > 0;
  return isBound && isOpenTo(binding, { name, labels });
}

/** What is for a namespace, by name. */
export interface Bound {
  readonly subnets: readonly string[];
  readonly pools: readonly string[];
  /** The spec in force of a Subnet; undefined of one that is not. */
  readonly specOf: (subnet: string) => Pick<SubnetSpec, 'cidrBlock' | 'excludeIps'> | undefined;
}

/** A merge patch of its annotations; undefined when they are right, or cannot be read. */
export function namespacePatch(
  { annotations, subnets, pools, problems }: NamespaceObject,
  bound: Bound,
): Record<string, string | null> | undefined {
  // A list over its limit reads as empty: a patch would erase what the operator wrote.
  if (problems) return undefined;
  const ofSubnets = merged(subnets, annotations[keys.ourSubnets] ?? '', bound.subnets);
  const ofPools = merged(pools, annotations[keys.ourPools] ?? '', bound.pools);
  const wanted: Record<string, string | null> = {};
  if (ofSubnets) {
    const specs = ofSubnets.all.flatMap((name) => bound.specOf(name) ?? []);
    const described = ofSubnets.ours.length > 0;
    wanted[keys.subnets] = ofSubnets.all.join(',') || null;
    wanted[keys.ourSubnets] = ofSubnets.ours.join(',') || null;
    wanted[keys.cidrs] = described ? specs.map(({ cidrBlock }) => cidrBlock).join(';') : null;
    wanted[keys.excludes] = described ? specs.map(({ excludeIps }) => excludeIps.join(',')).join(';') : null;
  }
  if (ofPools) {
    wanted[keys.pools] = ofPools.all.join(',') || null;
    wanted[keys.ourPools] = ofPools.ours.join(',') || null;
  }
  const news = Object.entries(wanted).filter(([key, value]) => (annotations[key] ?? null) !== value);
  return news.length > 0 ? Object.fromEntries(news) : undefined;
}

/** Those that somebody wrote by hand, and behind them those that are for it; undefined where we never had a part in it. */
function merged(
  listed: readonly string[],
  recorded: string,
  bound: readonly string[],
): { readonly all: readonly string[]; readonly ours: readonly string[] } | undefined {
  const before = recorded.split(',').filter((name) => name !== '');
  if (before.length === 0 && bound.length === 0) return undefined;
  const byHand = listed.filter((name) => !before.includes(name));
  // More would be refused when the namespace is read again.
  const room = namespaceLimits.names - byHand.length;
  const ours = bound.filter((name) => !byHand.includes(name)).slice(0, room);
  return { all: [...byHand, ...ours], ours };
}
