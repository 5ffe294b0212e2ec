/** Creates, changes and retires Subnets. */
import type { CooldownTimes } from '../state/address-pools/address-pool.ts';
import { parseAddress } from '../addresses/address.ts';
import type { Claim } from '../state/claim.ts';
import type { ApplySubnet, RetireSubnet } from '../commands/command.ts';
import type { Event } from '../events/event.ts';
import type { Attachment } from '../values/allocation.ts';
import { effectiveClaim } from '../state/claims-on-network.ts';
import { isObjectName, isProvider } from '../commands/names.ts';
import { Refused } from '../commands/refusal.ts';
import { cooldownTimesOfSubnet, type State } from '../state/state.ts';
import { subnetsOverlap, type Subnet } from '../state/subnet.ts';
import { normaliseSubnet } from '../state/normalise-subnet.ts';
import { formatInstant, freeAfterContainer } from './rules/refusal-messages.ts';

/** @throws Refused SUBNET_INVALID, SUBNET_OVERLAP, SUBNET_IN_USE */
export function applySubnet(state: State, { name, spec: requested, source, now }: ApplySubnet): Event[] {
  if (!isObjectName(name))
    throw new Refused(
      'SUBNET_INVALID',
      `"${name}" is not a valid subnet name: use lower-case letters, digits, "-" and "."`,
    );
  const subnet = normaliseSubnet(name, requested);
  if ('problems' in subnet) throw new Refused('SUBNET_INVALID', subnet.problems.join('; '));
  const known = state.subnets.get(name);
  if (known && JSON.stringify(known.subnet.spec) === JSON.stringify(subnet.spec)) return [];
  const { provider } = subnet.spec;
  if (!isProvider(provider))
    throw new Refused(
      'SUBNET_INVALID',
      `"${provider}" is not a valid provider: write <network>.<namespace> of a NetworkAttachmentDefinition, with .ovn for a Kube-OVN NIC, or ovn`,
    );
  refuseOverlap(state, subnet);
  refuseOtherNetwork(state, subnet, now);
  refuseStranding(state, subnet);
  refuseTakenGateway(state, subnet);
  return [{ type: 'SubnetConfigured', subnet: name, data: { spec: subnet.spec, ...(source && { source }) } }];
}

/**
 * Bindings, cooldowns and quarantines of a retired subnet also apply to the next subnet of its
 * network.
 * @throws Refused SUBNET_IN_USE while Pods hold addresses of it, or addresses are reserved.
 */
export function retireSubnet(state: State, { name }: RetireSubnet): Event[] {
  if (!state.subnets.has(name)) return [];
  const claims = [...(state.claims.get(name) ?? [])];
  const held = claims.flatMap(([, { allocation }]) => (allocation ? [`Pod ${podOf(allocation.attachment)}`] : []));
  const reserved = claims.flatMap(([, { reservation }]) => (reservation ? [reservation.reservedFor] : []));
  for (const [users, how] of [
    [held, 'held, the first by'],
    [reserved, 'reserved, the first for'],
  ] as const)
    if (users[0] !== undefined)
      throw new Refused(
        'SUBNET_IN_USE',
        `subnet ${name} can't be retired: ${users.length} of its addresses are ${how} ${users[0]}`,
      );
  return [{ type: 'SubnetRetired', subnet: name, data: {} }];
}

const podOf = ({ namespace, pod }: Attachment): string => `${namespace}/${pod}`;

/**
 * Rejects a CIDR that overlaps another one on its network. Other networks may use the same
 * addresses.
 */
function refuseOverlap(state: State, subnet: Subnet): void {
  for (const { subnet: other } of state.subnets.values())
    if (other.name !== subnet.name && other.spec.provider === subnet.spec.provider && subnetsOverlap(subnet, other))
      throw new Refused(
        'SUBNET_OVERLAP',
        `subnet ${subnet.name} cidr ${subnet.spec.cidrBlock} is conflict with subnet ${other.name} cidr ${other.spec.cidrBlock}: both serve provider ${subnet.spec.provider}`,
      );
}

/**
 * Rejects a change of the network while addresses are in use on the old network: another subnet of
 * that network would allocate them. The rule also holds for a new subnet with the name of a retired
 * subnet.
 */
function refuseOtherNetwork(state: State, subnet: Subnet, now: number): void {
  const { name, network, spec } = subnet;
  const known = state.subnets.get(name)?.subnet;
  if (known?.network === network) return;
  const before = cooldownTimesOfSubnet(state, name);
  const times = {
    cooldownMs: Math.max(spec.cooldownMs, before.cooldownMs),
    bindingTimeoutMs: Math.max(spec.bindingTimeoutMs, before.bindingTimeoutMs),
  };
  const uses = [...(state.claims.get(name) ?? [])].flatMap(([address, claim]) => {
    const use = claim.networks[0] === network ? undefined : useOf(claim, times, now);
    return use === undefined ? [] : [`${address} ${use}`];
  });
  if (uses[0] === undefined) return;
  const change = known
    ? `subnet ${name} can't change its provider from ${known.spec.provider} to ${spec.provider}`
    : `subnet ${name} can't come back with provider ${spec.provider}`;
  throw new Refused(
    'SUBNET_IN_USE',
    `${change}: ${uses.length} of its addresses are in use on another network, the first: ${uses[0]}. Free them first, or create a subnet with another name`,
  );
}

/** Describes how an address is in use, as a predicate; undefined if it is free. */
function useOf(
  { allocation, reservation, quarantine, bindings: [binding], lastAt }: Claim,
  { cooldownMs, bindingTimeoutMs }: CooldownTimes,
  now: number,
): string | undefined {
  if (allocation) return `is held by Pod ${podOf(allocation.attachment)}`;
  if (reservation) return `is reserved for ${reservation.reservedFor}`;
  if (quarantine) return `is quarantined since ${formatInstant(quarantine.at)}`;
  if (binding && lastAt > now - bindingTimeoutMs)
    return `may still be used by container ${binding.containerId} on node ${binding.node}: ${freeAfterContainer(lastAt + bindingTimeoutMs)}`;
  if (lastAt > now - cooldownMs) return `cools down until ${formatInstant(lastAt + cooldownMs)}`;
  return undefined;
}

/** Rejects a gateway that is in use or reserved: two hosts would answer on it. */
function refuseTakenGateway(state: State, subnet: Subnet): void {
  for (const { gatewayText } of subnet.families) {
    const claim = effectiveClaim(state, subnet, gatewayText);
    const user = claim && userOf(claim);
    if (user !== undefined)
      throw new Refused('SUBNET_IN_USE', `${gatewayText} can't become the gateway of subnet ${subnet.name}: ${user}`);
  }
}

function userOf({ allocation, reservation, bindings }: Claim): string | undefined {
  if (allocation) return `Pod ${podOf(allocation.attachment)} holds it`;
  if (reservation) return `it is reserved for ${reservation.reservedFor}`;
  return bindings[0] && `Pod ${podOf(bindings[0].attachment)} may still answer on it`;
}

/** Rejects a subnet without its allocated and reserved addresses, because it counts them. */
function refuseStranding(state: State, subnet: Subnet): void {
  for (const [text, { allocation, reservation }] of state.claims.get(subnet.name) ?? []) {
    if (!allocation && !reservation) continue;
    const address = parseAddress(text);
    const family = subnet.families.find((candidate) => candidate.family === address?.family);
    const inside = address && family && address.value >= family.hosts.first && address.value <= family.hosts.last;
    if (inside) continue;
    const user = allocation
      ? `Pod ${podOf(allocation.attachment)} holds ${text}`
      : `${text} is reserved for ${reservation?.reservedFor}`;
    throw new Refused(
      'SUBNET_IN_USE',
      `subnet ${subnet.name} can't become ${subnet.spec.cidrBlock}: ${user}, which would be outside`,
    );
  }
}
