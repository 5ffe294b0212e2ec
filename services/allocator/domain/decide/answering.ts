/** Whether a container on another node may still answer on an address that is to be bound. */
import type { Allocation, Binding } from '../claim.ts';
import { Refused } from '../refusal.ts';
import { claimOf, type State } from '../state.ts';
import { instant } from './reasons.ts';

/**
 * One address is on one node at a time. A StatefulSet passes the address of a member that was deleted by force on to the next
 * one, and the node that is cut off runs the container still. A virtual machine that moves is the exception: its allocation is on two
 * nodes, and KubeVirt decides which of them answers. One that was started again is none.
 *
 * The binding timeout counts from the moment since when that container has no right to the address: the transfer. Where no
 * transfer lies between (the same Pod on two nodes), it counts from that binding.
 * @throws Refused ADDRESS_ANSWERING
 */
export function refuseAnsweringElsewhere(
  state: State,
  allocation: Allocation,
  { node, now }: { readonly node: string; readonly now: number },
): void {
  const migrates = allocation.owner?.kind === 'VirtualMachineInstance';
  const timeoutMs = state.subnets.get(allocation.subnet)?.subnet.spec.bindingTimeoutMs ?? 0;
  const endOf = ({ at }: Binding): number => Math.max(at, allocation.at) + timeoutMs;
  const isElsewhere = (known: Binding): boolean => known.node !== node && !(migrates && known.alloc === allocation.seq);
  for (const { address } of allocation.addresses) {
    const elsewhere = claimOf(state, allocation.subnet, address)?.bindings.filter(isElsewhere) ?? [];
    const last = elsewhere.filter((known) => endOf(known) > now).sort((one, other) => endOf(other) - endOf(one))[0];
    if (last) throw answering(`${address} of subnet ${allocation.subnet}`, node, { ...last, end: endOf(last) });
  }
}

const answering = (what: string, node: string, other: Binding & { readonly end: number }): Refused =>
  new Refused(
    'ADDRESS_ANSWERING',
    `${what} cannot be bound on node ${node}: container ${other.containerId} (${other.interface}) on node ${other.node} may still answer on it. Bind waits until the CNI DEL of that container, a reboot of ${other.node}, or ${instant(other.end)}. If ${other.node} is down for good, delete its Node, or taint it with node.kubernetes.io/out-of-service`,
    other.attachment,
  );
