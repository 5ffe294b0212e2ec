/** Records CNI ADD and DEL: a container begins or ends its use of an allocation. */
import { type Allocation, type Binding, claimKey, type ClaimName, sandboxKey } from '../state/claim.ts';
import type { Bind, Sandbox, Unbind } from '../commands/command.ts';
import type { Event } from '../events/event.ts';
import { Refused } from '../commands/refusal.ts';
import {
  attachmentKey,
  bindingsOf,
  ownBindingOf,
  claimOf,
  allocationsOfPodName,
  podKeyOf,
  type State,
} from '../state/state.ts';
import { makeRoomForBinding, refuseManyAddresses } from './rules/binding-limit.ts';
import { isFenced, refuseFenced } from './rules/fence.ts';
import { rebootOrTimeout } from './rules/refusal-messages.ts';

/**
 * Finds the allocation of a CNI call by provider and interface name. If no attachment has that
 * name, the first attachment without a name is meant: Multus sets up unnamed attachments in the
 * order of the annotation. If all have names, the first one is meant whose name Multus counted for
 * an earlier sandbox, which is bound no longer: its list of networks was another one.
 */
export function allocationForSandbox(state: State, sandbox: Omit<Sandbox, 'containerId'>): Allocation | undefined {
  const held = allocationsOfPodName(state, sandbox.namespace, sandbox.pod)
    .filter(({ uid, attachment }) => uid === sandbox.uid && attachment.provider === sandbox.provider)
    .toSorted((a, b) => a.attachment.ordinal - b.attachment.ordinal);
  return (
    held.find((allocation) => allocation.interface === sandbox.interface) ??
    held.find((allocation) => allocation.interface === '') ??
    (isCounted(sandbox.interface)
      ? held.find((allocation) => isCounted(allocation.interface) && !ownBindingOf(state, allocation))
      : undefined)
  );
}

/** Whether this may be a name that Multus gives by the place in the list of networks. */
const isCounted = (name: string): boolean => /^net\d{1,9}$/.test(name);

/**
 * Rejects a caller that may act for one node only, if the Pod runs on another node. A Pod without a
 * node is allowed, because its first Bind sets the node. A virtual machine is allowed, because it
 * is on two nodes while it migrates.
 * @throws Refused PERMISSION_DENIED
 */
export function refuseOtherNode({ attachment, node, owner }: Allocation, onlyNode: string | undefined): void {
  if (onlyNode === undefined || node === '' || node === onlyNode || owner?.kind === 'VirtualMachineInstance') return;
  const { namespace, pod } = attachment;
  // The message leaves out the Pod's node: an agent learns nothing about other nodes.
  throw new Refused('PERMISSION_DENIED', `Pod ${namespace}/${pod} does not run on node ${onlyNode}`);
}

/** @throws Refused; ADDRESS_IN_USE and INVALID_REQUEST come from the limits in binding-limit.ts */
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
  const isSame = (known: Binding): boolean =>
    known.containerId === containerId &&
    known.interface === name &&
    known.node === node &&
    known.bootId === bootId &&
    known.alloc === allocation.seq;
  if (bindingsOf(state, allocation).some(isSame)) return [];
  refuseIfBoundElsewhere(state, allocation, command);
  refuseManyAddresses(state, allocation, command);
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
 * Ends the bindings of one container interface, also after a release. Does nothing for an unknown
 * container.
 *
 * Skips fenced addresses, and bindings on a node that the caller may not act for. A refusal would
 * block the deletion of the Pod.
 * @throws Refused ADDRESS_IN_USE for a binding of a current allocation, if the caller may only end
 * bindings of released ones
 */
export function unbind(state: State, command: Unbind): Event[] {
  const { containerId, interface: name, cause, evidence, onlyNode, releasedOnly } = command;
  // Sorted, so that a replayed state and a restored state lead to the same events.
  const claims = (state.sandboxes.get(sandboxKey(containerId, name)) ?? []).toSorted(compareClaimNames);
  const byAttachment = new Map<string, { subnet: string; attachment: Binding['attachment']; addresses: string[] }>();
  for (const { subnet, address } of claims) {
    if (isFenced(state, subnet, address)) continue;
    const claim = claimOf(state, subnet, address);
    const binding = claim?.bindings.find(
      (b) => b.containerId === containerId && b.interface === name && (onlyNode === undefined || b.node === onlyNode),
    );
    if (!binding) continue;
    if (releasedOnly) refuseInUse(`${address} of subnet ${subnet}`, binding, claim?.allocation);
    const { attachment } = binding;
    const key = `${subnet} ${podKeyOf(binding)} ${attachmentKey(attachment)}`;
    const known = byAttachment.get(key);
    if (known) known.addresses.push(address);
    else byAttachment.set(key, { subnet, attachment, addresses: [address] });
  }
  const ends = [...byAttachment].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return ends.map(([, { subnet, attachment, addresses }]): Event => {
    const data = { attachment, addresses, containerId, interface: name, cause, ...(evidence && { evidence }) };
    return { type: 'AddressUnbound', subnet, data };
  });
}

const compareClaimNames = (a: ClaimName, b: ClaimName): number => (claimKey(a) < claimKey(b) ? -1 : 1);

/** @throws Refused ADDRESS_IN_USE */
function refuseInUse(what: string, { alloc, containerId, node }: Binding, allocation: Allocation | undefined): void {
  if (allocation?.seq !== alloc) return;
  const { namespace, pod } = allocation.attachment;
  throw new Refused(
    'ADDRESS_IN_USE',
    `the binding of container ${containerId} on node ${node} cannot be ended: Pod ${namespace}/${pod} holds ${what}, and its container may answer on it. Delete the Pod; or release its allocation first`,
  );
}

/**
 * Rejects a Bind while a container on another node may still answer on the address.
 *
 * After a forced deletion, a StatefulSet member gets the address of its predecessor, whose
 * container may still run on a node that is cut off. The exception is a migrating virtual machine:
 * its allocation is bound on two nodes, and KubeVirt decides which of them answers. A virtual
 * machine that was started again is no exception.
 *
 * The binding timeout counts from the transfer, because the earlier container then lost its right
 * to the address. Without a transfer (the same Pod on two nodes) it counts from the earlier
 * binding.
 * @throws Refused ADDRESS_ANSWERING
 */
function refuseIfBoundElsewhere(
  state: State,
  allocation: Allocation,
  { node, now, onlyNode }: Pick<Bind, 'node' | 'now' | 'onlyNode'>,
): void {
  const migrates = allocation.owner?.kind === 'VirtualMachineInstance';
  const timeoutMs = state.subnets.get(allocation.subnet)?.subnet.spec.bindingTimeoutMs ?? 0;
  const endOf = ({ at }: Binding): number => Math.max(at, allocation.at) + timeoutMs;
  const isElsewhere = (known: Binding): boolean => known.node !== node && !(migrates && known.alloc === allocation.seq);
  for (const { address } of allocation.addresses) {
    const elsewhere = claimOf(state, allocation.subnet, address)?.bindings.filter(isElsewhere) ?? [];
    const last = elsewhere.filter((known) => endOf(known) > now).sort((one, other) => endOf(other) - endOf(one))[0];
    if (!last) continue;
    const what = `${address} of subnet ${allocation.subnet} cannot be bound on node ${node}`;
    const other = { ...last, end: endOf(last) };
    throw onlyNode === undefined ? boundElsewhere(what, other) : boundOnUnnamedNode(what, other);
  }
}

type OtherBinding = Binding & { readonly end: number };

const boundElsewhere = (what: string, other: OtherBinding): Refused =>
  new Refused(
    'ADDRESS_ANSWERING',
    `${what}: container ${other.containerId} (${other.interface}) on node ${other.node} may still answer on it. Bind waits until the CNI DEL of that container, ${rebootOrTimeout(other.node, other.end)}. If ${other.node} does not come back, delete its Node, or taint it with node.kubernetes.io/out-of-service`,
    other.attachment,
  );

/** Builds the refusal for an agent. It does not name the other node. */
const boundOnUnnamedNode = (what: string, { end, attachment }: OtherBinding): Refused =>
  new Refused(
    'ADDRESS_ANSWERING',
    `${what}: a container on another node may still answer on it. Bind waits until the CNI DEL of that container, ${rebootOrTimeout('its node', end)}. If that node does not come back, delete its Node, or taint it with node.kubernetes.io/out-of-service`,
    attachment,
  );
