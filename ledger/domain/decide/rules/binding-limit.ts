/**
 * Limits the bindings of one address, and the addresses of one container. At the limit, Bind ends
 * the oldest bindings of the address, so that no claim grows without bound.
 */
import { type Allocation, type Binding, continuesAfterBind, sandboxKey } from '../../state/claim.ts';
import type { Bind } from '../../commands/command.ts';
import type { Event } from '../../events/event.ts';
import { Refused } from '../../commands/refusal.ts';
import { claimOf, type State } from '../../state/state.ts';

/** A Pod needs one binding, or two while its sandbox is replaced or it migrates. */
export const maxBindings = 16;
/** The most bindings that one Bind ends: older versions had no limit, so claims shrink in steps. */
const maxEndedBindings = 16;

/**
 * Ends the oldest bindings of the same node if an address of the allocation has `maxBindings`
 * already. Bindings of earlier boots of the node need no event: AddressBound ends them.
 * @throws Refused ADDRESS_IN_USE if all bindings are on other nodes.
 */
export function makeRoomForBinding(state: State, allocation: Allocation, bind: Bind): Event[] {
  const { subnet } = allocation;
  const ends = new Map<string, { readonly binding: Binding; readonly addresses: string[] }>();
  for (const { address } of allocation.addresses) {
    const remaining = (claimOf(state, subnet, address)?.bindings ?? []).filter((each) =>
      continuesAfterBind(each, bind),
    );
    const excess = Math.min(remaining.length + 1 - maxBindings, maxEndedBindings);
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

/** A container interface has two addresses, and keeps earlier ones until its DEL. */
const maxAddresses = 16;

/**
 * Limits the claims of a container interface: an Unbind reads all of them, and an agent can name
 * any container.
 * @throws Refused INVALID_REQUEST
 */
export function refuseManyAddresses(state: State, allocation: Allocation, bind: Bind): void {
  const { containerId, interface: name, node } = bind;
  const isBound = (each: Binding): boolean =>
    each.containerId === containerId && each.interface === name && each.node === node && each.alloc !== allocation.seq;
  const claims = state.sandboxes.get(sandboxKey(containerId, name)) ?? [];
  const others = claims.filter(({ subnet, address }) => claimOf(state, subnet, address)?.bindings.some(isBound));
  if (others.length >= maxAddresses)
    throw new Refused(
      'INVALID_REQUEST',
      `container ${containerId} (${name}) is bound to ${others.length} addresses already, and that is the limit: end its bindings by a CNI DEL, then bind again`,
    );
}

/** The refusal if all bindings are on other nodes. It names none: an agent must not learn them. */
function tooManyElsewhere(bind: Bind, address: string, others: readonly Binding[]): Refused {
  const { namespace, pod, node, onlyNode } = bind;
  const names = [...new Set(others.map((each) => each.node))].toSorted().slice(0, 3).join(', ');
  const elsewhere = onlyNode === undefined ? `other nodes (${names})` : 'other nodes';
  return new Refused(
    'ADDRESS_IN_USE',
    `Pod ${namespace}/${pod} cannot use ${address} on node ${node}: ${others.length} containers on ${elsewhere} are bound to it, and ${maxBindings} is the limit. Delete those containers; if such a node does not come back, delete its Node.`,
  );
}
