/** What there is to be taken over. Pure. */
import { type Claim, claimsOf } from './claims.ts';
import type { LeftIp, LeftPool, LeftSubnet, LeftVip, Snapshot } from '../snapshot.ts';

/** An address that is held without a Pod. */
export interface Reservation {
  readonly object: LeftIp | LeftVip;
  readonly reservedFor: string;
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly mac: string;
}

export interface Plan {
  readonly subnets: readonly LeftSubnet[];
  readonly pools: readonly LeftPool[];
  readonly reservations: readonly Reservation[];
  readonly claims: readonly Claim[];
  /** IP objects of nobody: the addresses go back, as Kube-OVN's own clean-up would have it. */
  readonly leftovers: readonly LeftIp[];
  /** IP objects that are no Pod's, of Nodes and gateways: nothing is done with them. */
  readonly foreign: readonly LeftIp[];
}

export function planOf(snapshot: Snapshot): Plan {
  const claims = claimsOf(snapshot);
  const reservations = reservationsOf(snapshot);
  const kept = new Set([...claims.map(({ ip }) => ip), ...reservations.map(({ object }) => object)]);
  const others = snapshot.ips.filter((ip) => !ip.ours && !kept.has(ip));
  const foreign = others.filter(({ pod, namespace }) => pod === '' || namespace === '');
  const leftovers = others.filter((ip) => !foreign.includes(ip));
  const { subnets, pools } = snapshot;
  return { subnets, pools, reservations, claims, leftovers, foreign };
}

/** IP objects that somebody made, and Vips; under the names by which the pod-watcher finds them again. */
function reservationsOf({ ips, vips, subnets }: Snapshot): Reservation[] {
  const providerOf = (name: string): string => subnets.find((each) => each.name === name)?.spec.provider || 'ovn';
  const ofIps = ips.filter(({ reserved, addresses }) => reserved && addresses.length > 0);
  return [
    ...ofIps.map((object) => {
      const { namespace, pod, subnet, addresses, mac } = object;
      return { object, reservedFor: `pod/${namespace}/${pod}/${providerOf(subnet)}`, subnet, addresses, mac };
    }),
    ...vips
      .filter(({ addresses }) => addresses.length > 0)
      .map((object) => {
        const { name, subnet, addresses, mac } = object;
        return { object, reservedFor: `vip/${name}`, subnet, addresses, mac };
      }),
  ];
}
