/** The limit of bindings of one address: what Bind ends first, so that no claim grows without bound. */
import type { Allocation, Binding } from '../claim.ts';
import type { Bind } from '../command.ts';
import type { Event } from '../event.ts';
import { Refused } from '../refusal.ts';
import { claimOf, sandboxKey, type State } from '../state.ts';

/** A Pod needs one, and two while its sandbox is replaced or its virtual machine migrates. */
export const mostBindings = 16;
/** Bindings that one Bind ends: a claim from before there was a limit shrinks by steps that fit a transaction. */
const mostEnded = 16;

/**
 * Ends the oldest bindings of the same node where an address of the allocation has `mostBindings` already. Those of the node's
 * earlier boots need no event: AddressBound ends them.
 * @throws Refused ADDRESS_IN_USE when all of them are on other nodes.
 */
export function makeRoomForBinding(state: State, allocation: Allocation, bind: Bind): Event[] {
  const { subnet } = allocation;
  const ends = new Map<string, { readonly binding: Binding; readonly addresses: string[] }>();
  for (const { address } of allocation.addresses) {
    const remaining = (claimOf(state, subnet, address)?.bindings ?? []).filter((each) => outlives(each, bind));
    const excess = Math.min(remaining.length + 1 - mostBindings, mostEnded);
    if (excess <= 0) continue;
    const own = remaining.filter(({ node }) => node === bind.node).toSorted((a, b) => a.at - b.at);
    if (own.length === 0) throw tooManyElsewhere(bind, address, remaining);
    for (const binding of own.slice(0, excess)) {
      const key = sandboxKey(binding.containerId, binding.interface);
      const known = ends.get(key);
      if (known) known.addresses.push(address);
      else ends.set(key, { binding, addresses: [address] });
    }
  }
  return [...ends.values()].map(({ binding: { attachment, containerId, interface: name }, addresses }): Event => {
    const data = { attachment, addresses: addresses.toSorted(), containerId, interface: name };
    return { type: 'AddressUnbound', subnet, data: { ...data, cause: 'garbage-collected' } };
  });
}

/** Whether a binding is still there once AddressBound is applied. */
const outlives = (known: Binding, { containerId, interface: name, node, bootId }: Bind): boolean =>
  !(known.containerId === containerId && known.interface === name) && !(known.node === node && known.bootId !== bootId);

function tooManyElsewhere({ namespace, pod, node }: Bind, address: string, there: readonly Binding[]): Refused {
  const nodes = [...new Set(there.map((each) => each.node))].toSorted().slice(0, 3).join(', ');
  return new Refused(
    'ADDRESS_IN_USE',
    `Pod ${namespace}/${pod} cannot use ${address} on node ${node}: ${there.length} containers on other nodes (${nodes}) are bound to it, and ${mostBindings} is the limit. Delete those containers; if such a node is gone for good, delete its Node object.`,
  );
}
