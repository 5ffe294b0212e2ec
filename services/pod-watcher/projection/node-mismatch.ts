/** Checks that a Pod was bound on the Node on which it runs. Pure. */
import type { Pod } from '../kubernetes/objects/pod.ts';
import type { HeldAllocation } from '../ledger/ledger-events.ts';

/**
 * Describes the mismatch when the agent of one Node bound an address for a Pod that Kubernetes scheduled to another Node. undefined
 * without a mismatch, or while one of the Nodes is unknown.
 */
export function nodeMismatch(pod: Pod, allocations: readonly HeldAllocation[]): string | undefined {
  // During a live migration, a virtual machine is on two Nodes.
  if (pod.ledgerName !== pod.name) return undefined;
  const elsewhere = allocations.find(
    ({ uid, node }) => uid === pod.ledgerUid && pod.node !== '' && node !== '' && node !== pod.node,
  );
  if (!elsewhere) return undefined;
  return `the agent of node ${elsewhere.node} bound the Pod's address of ${elsewhere.provider}, but the Pod is on node ${pod.node}: start that agent with the name of its own Node`;
}
