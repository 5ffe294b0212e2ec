/** What is known of an address on a network, where several Subnets may speak of it: retired and moved ones, and those that lend addresses to NICs of other networks. */
import { type Allocation, type Claim, combined } from './claim.ts';
import { networkOf } from './network.ts';
import { claimOf, type State } from './state.ts';
import type { Subnet } from './subnet.ts';

/** Another Subnet's claim of an address. */
export interface OtherClaim {
  readonly subnet: string;
  readonly claim: Claim;
}

/** The claims of other Subnets than `subnet` at an address of a network. Usually there is no other Subnet. */
export function otherClaims(state: State, network: string, address: string, subnet: string): readonly OtherClaim[] {
  const names = state.networks.get(network);
  if (!names || (names.size === 1 && names.has(subnet))) return [];
  return [...names.keys()].flatMap((name): OtherClaim[] => {
    const claim = name === subnet ? undefined : claimOf(state, name, address);
    return claim?.networks.includes(network) ? [{ subnet: name, claim }] : [];
  });
}

/** What decides whether a Subnet can give an address: its own claim combined with the others on its network. undefined: never used. */
export function claimInForce(
  state: State,
  { name, network }: Pick<Subnet, 'name' | 'network'>,
  address: string,
): Claim | undefined {
  const own = claimOf(state, name, address);
  const others = otherClaims(state, network, address, name).map(({ claim }) => claim);
  return others.length === 0 ? own : combined(own ? [own, ...others] : others);
}

/** An address that two Pods hold on one network, from two Subnets. */
export interface HeldTwice {
  readonly network: string;
  readonly address: string;
  readonly holders: readonly [Allocation, Allocation];
}

/** Every address that is held twice. `decide` gives none so: only a hand in etcd, or a ledger from before the rule, does. */
export function heldTwice(state: State): HeldTwice[] {
  const shared = [...state.networks].filter(([, subnets]) => subnets.size > 1);
  return shared.flatMap(([network, subnets]) => {
    const holders = new Map<string, Allocation>();
    return [...subnets.keys()].flatMap((subnet) =>
      [...(state.claims.get(subnet) ?? [])].flatMap(([address, { allocation }]): HeldTwice[] => {
        if (!allocation || networkOf(allocation.attachment.provider, subnet) !== network) return [];
        const other = holders.get(address);
        holders.set(address, allocation);
        return other ? [{ network, address, holders: [other, allocation] }] : [];
      }),
    );
  });
}
