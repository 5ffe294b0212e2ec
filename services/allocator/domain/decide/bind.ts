/** A CNI ADD or DEL really happened. */
import type { Allocation, Binding } from '../claim.ts';
import type { Bind, Sandbox, Unbind } from '../command.ts';
import type { Event } from '../event.ts';
import { Refused } from '../refusal.ts';
import { claimOf, heldBy, sandboxKey, type State } from '../state.ts';
import { refuseAnsweringElsewhere } from './answering.ts';
import { makeRoomForBinding } from './binding-limit.ts';
import { isFenced, refuseFenced } from './fence.ts';

/**
 * Which allocation a CNI call is about: the Pod's attachment of that provider with that interface name; else the first that
 * has no name yet, since Multus sets up unnamed attachments in the order of the annotation.
 */
export function allocationForSandbox(state: State, sandbox: Omit<Sandbox, 'containerId'>): Allocation | undefined {
  const held = heldBy(state, sandbox.namespace, sandbox.pod)
    .filter(({ uid, attachment }) => uid === sandbox.uid && attachment.provider === sandbox.provider)
    .toSorted((a, b) => a.attachment.ordinal - b.attachment.ordinal);
  return (
    held.find((allocation) => allocation.interface === sandbox.interface) ??
    held.find((allocation) => allocation.interface === '')
  );
}

/**
 * Whoever may speak of one node only learns nothing of another's Pods, and binds none. A Pod of which no node is known yet
 * is everybody's: the first Bind pins it. So is a virtual machine: while it moves, it is on two nodes.
 * @throws Refused PERMISSION_DENIED
 */
export function refuseOtherNode({ attachment, node, owner }: Allocation, onlyNode: string | undefined): void {
  if (onlyNode === undefined || node === '' || node === onlyNode || owner?.kind === 'VirtualMachineInstance') return;
  const { namespace, pod } = attachment;
  throw new Refused('PERMISSION_DENIED', `Pod ${namespace}/${pod} runs on node ${node}, and not on ${onlyNode}`);
}

/** @throws Refused NOT_ALLOCATED, PERMISSION_DENIED, ADDRESS_FENCED, ADDRESS_ANSWERING, ADDRESS_IN_USE (16 containers of other nodes use it) */
export function bind(state: State, command: Bind): Event[] {
  const allocation = allocationForSandbox(state, command);
  if (!allocation)
    throw new Refused(
      'NOT_ALLOCATED',
      `Pod ${command.namespace}/${command.pod} (uid ${command.uid}) has no allocation for provider ${command.provider}, interface ${command.interface}`,
    );
  refuseOtherNode(allocation, command.onlyNode);
  const addresses = allocation.addresses.map(({ address }) => address);
  for (const address of addresses) refuseFenced(state, allocation.subnet, address);
  const { containerId, interface: name, node, bootId } = command;
  const same = (known: Binding): boolean =>
    known.containerId === containerId &&
    known.interface === name &&
    known.node === node &&
    known.bootId === bootId &&
    known.alloc === allocation.seq;
  if (bindingsOf(state, allocation).some(same)) return [];
  refuseAnsweringElsewhere(state, allocation, command);
  const { attachment, uid, subnet, seq: alloc } = allocation;
  return [
    ...makeRoomForBinding(state, allocation, command),
    {
      type: 'AddressBound',
      subnet,
      data: { alloc, attachment, uid, addresses, containerId, interface: name, node, bootId },
    },
  ];
}

/**
 * Ends that container's binding only, also late and after release; one that is unknown is ended already. A fenced address is
 * left as it is, and so is what is bound on a node of which whoever asks may not speak: a Pod must be able to go.
 */
export function unbind(state: State, { containerId, interface: name, cause, onlyNode }: Unbind): Event[] {
  const claims = state.sandboxes.get(sandboxKey(containerId, name)) ?? [];
  const bySubnet = new Map<string, { attachment: Binding['attachment']; addresses: string[] }>();
  for (const { subnet, address } of claims) {
    if (isFenced(state, subnet, address)) continue;
    const binding = claimOf(state, subnet, address)?.bindings.find(
      (b) => b.containerId === containerId && b.interface === name && (onlyNode === undefined || b.node === onlyNode),
    );
    if (!binding) continue;
    const known = bySubnet.get(subnet) ?? { attachment: binding.attachment, addresses: [] };
    bySubnet.set(subnet, { ...known, addresses: [...known.addresses, address].toSorted() });
  }
  // In an order that follows from what is there, and not from how the state was made.
  const ends = [...bySubnet].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return ends.map(([subnet, { attachment, addresses }]): Event => {
    return { type: 'AddressUnbound', subnet, data: { attachment, addresses, containerId, interface: name, cause } };
  });
}

/** The bindings of what is held: those of any of its addresses, since all carry the same. */
export const bindingsOf = (state: State, { subnet, addresses }: Allocation): readonly Binding[] =>
  (addresses[0] && claimOf(state, subnet, addresses[0].address)?.bindings) ?? [];
