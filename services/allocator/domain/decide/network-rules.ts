/** What the networks of a NIC say about an address that a subnet would give it: the claims of other subnets, and the subnets of the NIC's own network. */
import type { RestTimes } from '../address-part.ts';
import type { AddressSpace } from '../address-space.ts';
import { type Address, parseAddress } from '../address.ts';
import { type Claim, standingOf } from '../claim.ts';
import type { ClaimName } from '../journal.ts';
import { otherClaims } from '../on-network.ts';
import { Refused } from '../refusal.ts';
import { claimOf, type ConfiguredSubnet, type State } from '../state.ts';
import { defaultBindingTimeoutMs, defaultCooldownMs, type Subnet } from '../subnet.ts';
import { refuseAddressOfForeignPool, type Tenant } from './tenancy.ts';

/** Where the NIC's network has subnets of its own: their gateways, and their pools of other namespaces, are theirs. @throws Refused */
export function refuseByHomes(
  state: State,
  { subnet }: ConfiguredSubnet,
  value: bigint,
  { space, network, tenant }: { readonly space: AddressSpace; readonly network: string; readonly tenant: Tenant },
): void {
  for (const [home, its] of homeSpaces(state, subnet, network, space)) {
    refuseNoGateway(home, its, value);
    refuseAddressOfForeignPool(state, its, value, tenant);
  }
}

/** The other subnets in force whose own network it is, each with its space of the same family. */
function homeSpaces(
  state: State,
  { name }: Subnet,
  network: string,
  { subnetFamily: { family } }: AddressSpace,
): (readonly [ConfiguredSubnet, AddressSpace])[] {
  return (state.homes.get(network) ?? []).flatMap((home) => {
    const configured = home === name ? undefined : state.subnets.get(home);
    const space = configured?.spaces.find(({ subnetFamily }) => subnetFamily.family === family);
    return configured && space ? [[configured, space] as const] : [];
  });
}

/** @throws Refused ADDRESS_IN_USE for the gateway of the subnet. */
export function refuseNoGateway(
  { subnet }: ConfiguredSubnet,
  { subnetFamily }: Pick<AddressSpace, 'subnetFamily'>,
  value: bigint,
): void {
  if (value === subnetFamily.gateway)
    throw new Refused(
      'ADDRESS_IN_USE',
      `AddressConflict: ${subnetFamily.gatewayText} is the gateway of subnet ${subnet.name}`,
    );
}

/** Whether no claim keeps an address back on the networks: neither the subnet's own one nor another subnet's. */
export function isFreeOn(
  state: State,
  networks: ReadonlySet<string>,
  { subnet, address }: { readonly subnet: Subnet; readonly address: string },
  now: number,
): boolean {
  const { name } = subnet;
  const own = claimOf(state, name, address);
  const others = [...networks].flatMap((network) => otherClaims(state, network, address, name));
  const claims = own ? [{ subnet: name, claim: own }, ...others] : others;
  return claims.every(({ subnet: its, claim }) => {
    const { cooldownMs, bindingTimeoutMs } = restTimes(state, subnet, { subnet: its, address }, claim);
    const standing = standingOf(claim);
    if (standing === 'idle') return claim.lastAt <= now - cooldownMs;
    return standing === 'held' && claim.lastAt <= now - bindingTimeoutMs;
  });
}

/** Whether the subnets of the NIC's own network would give the address to any of its NICs: it is no gateway, not excluded, and in no pool. */
export function isFreeAtHome(
  state: State,
  subnet: Subnet,
  { network, space, address }: { readonly network: string; readonly space: AddressSpace; readonly address: string },
): boolean {
  if (network === subnet.network) return true;
  const { value } = parseAddress(address) as Address;
  return homeSpaces(state, subnet, network, space).every(([, its]) => {
    const { hosts } = its.subnetFamily;
    return value < hosts.first || value > hosts.last || its.partOf(value)?.pool === '';
  });
}

/** How long an address rests: the longest of the subnet that gives it, the one whose claim it is, and those of its networks that have it. */
export function restTimes(
  state: State,
  asking: Subnet,
  { subnet, address }: ClaimName,
  { networks }: Pick<Claim, 'networks'>,
): RestTimes {
  const { family, value } = parseAddress(address) as Address;
  const homes = networks.flatMap((network) => state.homes.get(network) ?? []);
  const having = homes.filter((name) => {
    const space = state.subnets.get(name)?.spaces.find(({ subnetFamily }) => subnetFamily.family === family);
    return space && value >= space.subnetFamily.hosts.first && value <= space.subnetFamily.hosts.last;
  });
  const specs = [...new Set([subnet, ...having])].map((name) => state.subnets.get(name)?.subnet.spec ?? usualRest);
  return {
    cooldownMs: Math.max(asking.spec.cooldownMs, ...specs.map(({ cooldownMs }) => cooldownMs)),
    bindingTimeoutMs: Math.max(asking.spec.bindingTimeoutMs, ...specs.map(({ bindingTimeoutMs }) => bindingTimeoutMs)),
  };
}

/** Of a retired subnet, whose own times are not known any more. */
const usualRest: RestTimes = { cooldownMs: defaultCooldownMs, bindingTimeoutMs: defaultBindingTimeoutMs };
