/** Rules for an address that follow from its networks: claims and settings of other subnets. */
import type { CooldownTimes } from '../../state/address-pools/address-pool.ts';
import { type AddressSpace, spaceOfFamily } from '../../state/address-pools/address-space.ts';
import { type Address, parseAddress } from '../../addresses/address.ts';
import { type Claim, standingOf, type ClaimName } from '../../state/claim.ts';
import { otherClaims } from '../../state/claims-on-network.ts';
import { Refused } from '../../commands/refusal.ts';
import { claimOf, type ConfiguredSubnet, cooldownTimesOfSubnet, type State } from '../../state/state.ts';
import type { Subnet } from '../../state/subnet.ts';
import { refuseAddressOfForeignPool, type Tenant } from './tenancy.ts';

/** Rejects gateways of the NIC's network, and pools of other namespaces. @throws Refused */
export function refuseByHomeSubnets(
  state: State,
  { subnet }: ConfiguredSubnet,
  value: bigint,
  { space, network, tenant }: { readonly space: AddressSpace; readonly network: string; readonly tenant: Tenant },
): void {
  for (const [home, its] of homeSpaces(state, subnet, network, space)) {
    refuseGateway(home, its, value);
    refuseAddressOfForeignPool(state, its, value, tenant);
  }
}

/** The other subnets in force of a network, each with its space of the same family. */
function homeSpaces(
  state: State,
  { name }: Subnet,
  network: string,
  { subnetFamily: { family } }: AddressSpace,
): (readonly [ConfiguredSubnet, AddressSpace])[] {
  return (state.homeSubnets.get(network) ?? []).flatMap((home) => {
    const configured = home === name ? undefined : state.subnets.get(home);
    const space = spaceOfFamily(configured?.spaces, family);
    return configured && space ? [[configured, space] as const] : [];
  });
}

/** @throws Refused ADDRESS_OUT_OF_RANGE if the address is the gateway of the subnet. */
export function refuseGateway(
  { subnet }: ConfiguredSubnet,
  { subnetFamily }: Pick<AddressSpace, 'subnetFamily'>,
  value: bigint,
): void {
  if (value === subnetFamily.gateway)
    throw new Refused(
      'ADDRESS_OUT_OF_RANGE',
      `AddressConflict: ${subnetFamily.gatewayText} is the gateway of subnet ${subnet.name}`,
    );
}

/** Whether no claim on the networks blocks the address. */
export function isFreeOnNetworks(
  state: State,
  networks: readonly string[],
  { subnet, address }: { readonly subnet: Subnet; readonly address: string },
  now: number,
): boolean {
  const { name } = subnet;
  const own = claimOf(state, name, address);
  const others = networks.flatMap((network) => otherClaims(state, network, address, name));
  if (!own && others.length === 0) return true;
  const claims = own ? [{ subnet: name, claim: own }, ...others] : others;
  return claims.every(({ subnet: its, claim }) => {
    const { cooldownMs, bindingTimeoutMs } = cooldownTimesOf(state, subnet, { subnet: its, address }, claim);
    const standing = standingOf(claim);
    if (standing === 'idle') return claim.lastAt <= now - cooldownMs;
    return standing === 'held' && claim.lastAt <= now - bindingTimeoutMs;
  });
}

/** Whether no subnet of the network forbids an address as gateway, by an exclude or by a pool. */
export function isFreeInHomeSubnets(
  state: State,
  subnet: Subnet,
  { network, space, address }: { readonly network: string; readonly space: AddressSpace; readonly address: string },
): boolean {
  if (network === subnet.network) return true;
  const { value } = parseAddress(address) as Address;
  return homeSpaces(state, subnet, network, space).every(([, its]) => {
    const { hosts } = its.subnetFamily;
    return value < hosts.first || value > hosts.last || its.poolAt(value)?.pool === '';
  });
}

/** The cooldown of an address: the longest of the subnets of its claim and its networks. */
export function cooldownTimesOf(
  state: State,
  allocating: Subnet,
  { subnet, address }: ClaimName,
  { networks }: Pick<Claim, 'networks'>,
): CooldownTimes {
  const { family, value } = parseAddress(address) as Address;
  const homes = networks.flatMap((network) => state.homeSubnets.get(network) ?? []);
  const containing = homes.filter((name) => {
    const space = spaceOfFamily(state.subnets.get(name)?.spaces, family);
    return space && value >= space.subnetFamily.hosts.first && value <= space.subnetFamily.hosts.last;
  });
  const specs = [...new Set([subnet, ...containing])].map((name) => cooldownTimesOfSubnet(state, name));
  return {
    cooldownMs: Math.max(allocating.spec.cooldownMs, ...specs.map(({ cooldownMs }) => cooldownMs)),
    bindingTimeoutMs: Math.max(
      allocating.spec.bindingTimeoutMs,
      ...specs.map(({ bindingTimeoutMs }) => bindingTimeoutMs),
    ),
  };
}
