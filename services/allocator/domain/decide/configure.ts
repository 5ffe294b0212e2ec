/** Subnets come, change and go. */
import type { RestTimes } from '../address-part.ts';
import { parseAddress } from '../address.ts';
import type { Claim } from '../claim.ts';
import type { ApplySubnet, RetireSubnet } from '../command.ts';
import type { Attachment, Event } from '../event.ts';
import { claimInForce } from '../on-network.ts';
import { Refused } from '../refusal.ts';
import type { State } from '../state.ts';
import { defaultBindingTimeoutMs, defaultCooldownMs, normaliseSubnet, overlaps, type Subnet } from '../subnet.ts';
import { instant } from './reasons.ts';

/** @throws Refused SUBNET_INVALID, SUBNET_OVERLAP, SUBNET_IN_USE */
export function applySubnet(state: State, { name, spec: requested, source, now }: ApplySubnet): Event[] {
  if (!/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name))
    throw new Refused(
      'SUBNET_INVALID',
      `"${name}" is not a valid subnet name: use lower-case letters, digits, "-" and "."`,
    );
  const subnet = normaliseSubnet(name, requested);
  if ('problems' in subnet) throw new Refused('SUBNET_INVALID', subnet.problems.join('; '));
  const known = state.subnets.get(name);
  if (known && JSON.stringify(known.subnet.spec) === JSON.stringify(subnet.spec)) return [];
  refuseOverlap(state, subnet);
  refuseOtherNetwork(state, subnet, now);
  refuseStranding(state, subnet);
  refuseTakenGateway(state, subnet);
  return [{ type: 'SubnetConfigured', subnet: name, data: { spec: subnet.spec, ...(source && { source }) } }];
}

/**
 * What may still answer, rests or is quarantined stays so for the next subnet of that network.
 * @throws Refused SUBNET_IN_USE while Pods hold addresses of it, or some are reserved.
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

/** Equal CIDRs on different networks are legal; two subnets of one provider are one network. */
function refuseOverlap(state: State, subnet: Subnet): void {
  for (const { subnet: other } of state.subnets.values())
    if (other.name !== subnet.name && other.spec.provider === subnet.spec.provider && overlaps(subnet, other))
      throw new Refused(
        'SUBNET_OVERLAP',
        `subnet ${subnet.name} cidr ${subnet.spec.cidrBlock} is conflict with subnet ${other.name} cidr ${other.spec.cidrBlock}: both serve provider ${subnet.spec.provider}`,
      );
}

/**
 * A subnet stays on its network while addresses of it are in use there: another subnet of that network would give them again.
 * That is so for a retired subnet's name, too.
 */
function refuseOtherNetwork(state: State, subnet: Subnet, now: number): void {
  const { name, network, spec } = subnet;
  const known = state.subnets.get(name)?.subnet;
  if (known?.network === network) return;
  const rest = {
    cooldownMs: Math.max(spec.cooldownMs, known?.spec.cooldownMs ?? defaultCooldownMs),
    bindingTimeoutMs: Math.max(spec.bindingTimeoutMs, known?.spec.bindingTimeoutMs ?? defaultBindingTimeoutMs),
  };
  const uses = [...(state.claims.get(name) ?? [])].flatMap(([address, claim]) => {
    const use = claim.networks[0] === network ? undefined : useOf(claim, rest, now);
    return use === undefined ? [] : [`${address} ${use}`];
  });
  if (uses[0] === undefined) return;
  const change = known
    ? `subnet ${name} can't change its provider from ${known.spec.provider} to ${spec.provider}`
    : `subnet ${name} can't come back with provider ${spec.provider}`;
  throw new Refused(
    'SUBNET_IN_USE',
    `${change}: ${uses.length} of its addresses are in use on another network, the first: ${uses[0]}. Free them first, or make a subnet of another name`,
  );
}

/** How an address is in use, as the rest of a sentence; undefined when it is free again. */
function useOf(
  { allocation, reservation, quarantine, bindings: [binding], lastAt }: Claim,
  { cooldownMs, bindingTimeoutMs }: RestTimes,
  now: number,
): string | undefined {
  if (allocation) return `is held by Pod ${podOf(allocation.attachment)}`;
  if (reservation) return `is reserved for ${reservation.reservedFor}`;
  if (quarantine) return `is quarantined since ${instant(quarantine.at)}`;
  if (binding && lastAt > now - bindingTimeoutMs)
    return `may still be answered on by container ${binding.containerId} on node ${binding.node}, until ${instant(lastAt + bindingTimeoutMs)}`;
  if (lastAt > now - cooldownMs) return `cools down until ${instant(lastAt + cooldownMs)}`;
  return undefined;
}

/** An address that is in use on the network, or reserved, becomes no gateway: two would answer on it. */
function refuseTakenGateway(state: State, subnet: Subnet): void {
  for (const { gatewayText } of subnet.families) {
    const claim = claimInForce(state, subnet, gatewayText);
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

/** What a Pod holds, or is reserved, stays inside its subnet: an address outside it could neither be answered for nor be counted. */
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
