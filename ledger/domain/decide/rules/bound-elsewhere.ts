/** Rejects a bind while a container on another node may still answer on the address. */
import type { Bind } from '../../commands/command.ts';
import type { Allocation, Binding } from '../../state/claim.ts';
import { Refused } from '../../commands/refusal.ts';
import { claimOf, type State } from '../../state/state.ts';
import { formatInstant } from './refusal-messages.ts';

/**
 * An address is used on one node at a time. After a forced deletion, a StatefulSet member gets the address of the previous one,
 * whose container may still run on a node that is cut off. A migrating virtual machine is the exception: its allocation is bound
 * on two nodes, and KubeVirt decides which one answers. A virtual machine that was started again is no exception.
 *
 * The binding timeout counts from the transfer, which ended the earlier container's right to the address. Without a transfer
 * (the same Pod on two nodes) it counts from that binding.
 * @throws Refused ADDRESS_ANSWERING
 */
export function refuseIfBoundElsewhere(
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
    `${what}: container ${other.containerId} (${other.interface}) on node ${other.node} may still answer on it. Bind waits until the CNI DEL of that container, a reboot of ${other.node}, or ${formatInstant(other.end)}. If ${other.node} does not come back, delete its Node, or taint it with node.kubernetes.io/out-of-service`,
    other.attachment,
  );

/** For an agent, which learns nothing of other nodes. */
const boundOnUnnamedNode = (what: string, { end, attachment }: OtherBinding): Refused =>
  new Refused(
    'ADDRESS_ANSWERING',
    `${what}: a container on another node may still answer on it. Bind waits until the CNI DEL of that container, a reboot of its node, or ${formatInstant(end)}. If that node does not come back, delete its Node, or taint it with node.kubernetes.io/out-of-service`,
    attachment,
  );
