/**
 * Takes an address from a Pod because another host answers on it, before the Pod's container uses
 * it. The address is quarantined for all. A Pod with a dynamic address gets another one in the same
 * command. Any other Pod has requested this one, so its next request is refused.
 */
import { type AddressSpace, spaceOfFamily } from '../state/address-pools/address-space.ts';
import { familyOf } from '../addresses/address.ts';
import type { ReportConflict } from '../commands/command.ts';
import { Refused } from '../commands/refusal.ts';
import type { Event } from '../events/event.ts';
import type { Allocation } from '../state/claim.ts';
import { networkOf } from '../state/network.ts';
import { bindingsOf, claimOf, type ConfiguredSubnet, type State } from '../state/state.ts';
import { allocationForSandbox, refuseOtherNode } from './bind.ts';
import { refuseFenced } from './rules/fence.ts';
import { parseMac } from './rules/mac.ts';
import { explainSubnetFull } from './rules/refusal-messages.ts';
import { nextFreeAddress, toAssignedAddress } from './rules/select-address.ts';

/** A probe quarantines no more than a sixteenth of a Subnet's addresses, within these limits. */
const quarantineLimits = { share: 16n, least: 4n, most: 64n };

/**
 * Whether a container should probe its addresses. It should not while another container is bound,
 * because that container may answer.
 */
export const isProbed = (state: State, allocation: Allocation): boolean =>
  state.subnets.get(allocation.subnet)?.subnet.spec.probeAddresses === true &&
  bindingsOf(state, allocation).length === 1;

/**
 * Only the container that is bound to the address, and no other, can report a conflict.
 * @throws Refused, QUARANTINE_LIMIT if a neighbor may be answering on all addresses
 */
export function reportConflict(state: State, command: ReportConflict): Event[] {
  const { namespace, pod, containerId, interface: name, node, address } = command;
  const allocation = allocationForSandbox(state, command);
  const configured = state.subnets.get(allocation?.subnet ?? '');
  const bindings = allocation ? bindingsOf(state, allocation) : [];
  const isBound = bindings.some(
    (binding) => binding.containerId === containerId && binding.interface === name && binding.node === node,
  );
  if (!allocation || !configured || !isBound || !allocation.addresses.some((held) => held.address === address))
    throw new Refused(
      'NOT_ALLOCATED',
      `container ${containerId} (${name}) of Pod ${namespace}/${pod} is not bound to ${address} on node ${node}: a conflict can be reported only by the container that is about to use the address`,
    );
  refuseOtherNode(allocation, command.onlyNode);
  const { attachment, uid, subnet, seq: alloc } = allocation;
  if (bindings.length > 1)
    throw new Refused(
      'ADDRESS_ANSWERING',
      `${address} of subnet ${subnet} is not quarantined: another container is bound to it, and may have answered. Try again after the CNI DEL of that container`,
    );
  if (!configured.subnet.spec.probeAddresses)
    throw new Refused('INVALID_REQUEST', `subnet ${subnet} has no probeAddresses: its addresses are not probed`);
  const seenMac = parseMac(command.seenMac);
  if (seenMac === '' || seenMac === allocation.mac)
    throw new Refused('INVALID_REQUEST', `seen_mac ${JSON.stringify(seenMac)} is not the MAC of another host`);
  const addresses = allocation.addresses.map((held) => held.address);
  for (const held of addresses) refuseFenced(state, subnet, held);
  const evidence = `${seenMac} answered on ${address} before container ${containerId} on node ${node} used it`;
  const events: Event[] = [
    {
      type: 'AddressUnbound',
      subnet,
      data: { attachment, addresses, containerId, interface: name, cause: 'container-deleted' },
    },
    {
      type: 'AddressReleased',
      subnet,
      data: { alloc, attachment, uid, addresses, cause: 'address-conflict', evidence },
    },
  ];
  if (!claimOf(state, subnet, address)?.quarantine) {
    refuseManyQuarantines(configured, address, seenMac);
    const reason = `it answered a probe for Pod ${namespace}/${pod}`;
    events.push({ type: 'AddressQuarantined', subnet, data: { address, seenMac, seenAt: node, reason } });
  }
  if (allocation.cause === 'dynamic') events.push(allocateInstead(state, configured, allocation, command));
  return events;
}

/**
 * Allocates other addresses of the same families. The addresses that are given up are not free in
 * this state.
 * @throws Refused SUBNET_FULL: the Pod keeps its address, and the next ADD tries again
 */
function allocateInstead(
  state: State,
  configured: ConfiguredSubnet,
  allocation: Allocation,
  { address, seenMac, now }: ReportConflict,
): Event {
  const { seq: _seq, at: _at, subnet, ...grant } = allocation;
  const networkIn = (): string => networkOf(grant.attachment.provider, subnet);
  const search = { pool: '', ipFamily: '', taken: new Set<string>(), networkIn, now } as const;
  const addresses = grant.addresses.map((held) => {
    const space = spaceOfFamily(configured.spaces, familyOf(held.address));
    const free = space && nextFreeAddress(state, configured, space, search);
    if (space && free !== undefined) return toAssignedAddress(space, free);
    throw new Refused(
      'SUBNET_FULL',
      `AddressConflict: ${seenMac} answers on ${address}, and ${explainSubnetFull(state, configured, search)}`,
    );
  });
  return { type: 'AddressAllocated', subnet, data: { ...grant, addresses } };
}

/**
 * Keeps a neighbor that answers each probe, or a captured node that reports conflicts, from taking
 * a whole Subnet out of use. All quarantines of the family count.
 * @throws Refused QUARANTINE_LIMIT
 */
function refuseManyQuarantines({ subnet, spaces }: ConfiguredSubnet, address: string, seenMac: string): void {
  const space = spaceOfFamily(spaces, familyOf(address));
  const quarantined = space?.pools.reduce((sum, pool) => sum + pool.quarantined, 0) ?? 0;
  const limit = space ? limitOf(space) : 0n;
  if (BigInt(quarantined) < limit) return;
  throw new Refused(
    'QUARANTINE_LIMIT',
    `AddressConflict: ${seenMac} answers on ${address} of subnet ${subnet.name}, where ${quarantined} addresses are quarantined: probes quarantine no more than ${limit}. Find that host, and exclude its addresses or end their quarantines (\`ipledger unquarantine\`); or set probeAddresses to false`,
  );
}

function limitOf({ total }: AddressSpace): bigint {
  const { share, least, most } = quarantineLimits;
  const part = total / share;
  return part < least ? least : part > most ? most : part;
}
