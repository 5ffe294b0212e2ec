/**
 * The claims of all Subnets at one address of a network. A network has claims of several Subnets if
 * one was retired, was moved to another network, or serves NICs of other networks.
 */
import { type Allocation, type Claim, combineClaims } from './claim.ts';
import { networkOf } from './network.ts';
import { claimOf, type State } from './state.ts';
import type { Subnet } from './subnet.ts';

/** The claim of another Subnet at an address. */
export interface OtherClaim {
  readonly subnet: string;
  readonly claim: Claim;
}

/** The claims of Subnets other than `subnet` at an address of a network. Usually there are none. */
export function otherClaims(state: State, network: string, address: string, subnet: string): readonly OtherClaim[] {
  const names = state.networks.get(network);
  if (!names || (names.size === 1 && names.has(subnet))) return [];
  return [...names.keys()].flatMap((name): OtherClaim[] => {
    const claim = name === subnet ? undefined : claimOf(state, name, address);
    return claim?.networks.includes(network) ? [{ subnet: name, claim }] : [];
  });
}

/** The claims that decide about an address, combined: its own, and others on its network. */
export function effectiveClaim(
  state: State,
  { name, network }: Pick<Subnet, 'name' | 'network'>,
  address: string,
): Claim | undefined {
  const own = claimOf(state, name, address);
  const others = otherClaims(state, network, address, name).map(({ claim }) => claim);
  return others.length === 0 ? own : combineClaims(own ? [own, ...others] : others);
}

/** An address that two Pods hold on one network through two Subnets. */
export interface DoubleAllocation {
  readonly network: string;
  readonly address: string;
  readonly holders: readonly [Allocation, Allocation];
}

/** Finds every address with two holders. Only an edit in etcd or an early version produces them. */
export function findDoubleAllocations(state: State): DoubleAllocation[] {
  const shared = [...state.networks].filter(([, subnets]) => subnets.size > 1);
  return shared.flatMap(([network, subnets]) => {
    const holders = new Map<string, Allocation>();
    return [...subnets.keys()].flatMap((subnet) =>
      [...(state.claims.get(subnet) ?? [])].flatMap(([address, { allocation }]): DoubleAllocation[] => {
        if (!allocation || networkOf(allocation.attachment.provider, subnet) !== network) return [];
        const other = holders.get(address);
        holders.set(address, allocation);
        return other ? [{ network, address, holders: [other, allocation] }] : [];
      }),
    );
  });
}
