/** Subnets come, change and go. */
import { parseAddress } from '../address.ts';
import type { Claim } from '../claim.ts';
import type { ApplySubnet, RetireSubnet } from '../command.ts';
import type { Attachment, Event } from '../event.ts';
import { Refused } from '../refusal.ts';
import { claimOf, type State } from '../state.ts';
import { normaliseSubnet, overlaps, type Subnet } from '../subnet.ts';

/** @throws Refused SUBNET_INVALID, SUBNET_OVERLAP, SUBNET_IN_USE */
export function applySubnet(state: State, { name, spec: requested, source }: ApplySubnet): Event[] {
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
  refuseStranding(state, subnet);
  refuseTakenGateway(state, subnet);
  return [{ type: 'SubnetConfigured', subnet: name, data: { spec: subnet.spec, ...(source && { source }) } }];
}

/** @throws Refused SUBNET_IN_USE while Pods hold addresses of it, or some are reserved. */
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

/** An address that somebody uses, or that is reserved, becomes no gateway: two would answer on it. */
function refuseTakenGateway(state: State, subnet: Subnet): void {
  for (const { gatewayText } of subnet.families) {
    const claim = claimOf(state, subnet.name, gatewayText);
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
