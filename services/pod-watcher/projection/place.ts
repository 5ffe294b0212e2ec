/** Whether a Pod was bound where it runs. Pure. */
import type { Pod } from '../kubernetes/objects.ts';
import type { Holding } from '../ledger/facts.ts';

/**
 * What is wrong, as a sentence: an agent of one Node set up a NIC for a Pod that Kubernetes has put on another. undefined where
 * nothing is, or where one of both is not known.
 */
export function misplaced(pod: Pod, holdings: readonly Holding[]): string | undefined {
  // A virtual machine that moves is on two.
  if (pod.ledgerName !== pod.name) return undefined;
  const elsewhere = holdings.find(
    ({ uid, node }) => uid === pod.identity && pod.node !== '' && node !== '' && node !== pod.node,
  );
  if (!elsewhere) return undefined;
  return `the agent of node ${elsewhere.node} bound the Pod's address of ${elsewhere.provider}, but the Pod is on node ${pod.node}: is that agent started with the name of its own Node?`;
}
