/** Describes a container that may still answer on an address after the ledger gave the address up, and what ends that. */
import type { Binding } from '../../proto/generated/ipledger.ts';
import { shortContainerId } from './format.ts';

type HoldingContainer = Pick<Binding, 'containerId' | 'node' | 'at'>;

/** The container, its node, and since when. */
export const describeContainer = ({ containerId, node, at }: HoldingContainer): string =>
  `container ${shortContainerId(containerId)} on node ${node}, bound since ${at}`;

/** What ends the binding of a container. Only its node knows whether it runs. */
export const endOfBinding = (node: string): string =>
  `the CNI DEL of that container, a reboot of ${node}, or a binding timeout of the Subnet ends that. ${lostNodeRemedy(node)}`;

/** The commands for a node that does not come back; both end the bindings of its containers. */
export const lostNodeRemedy = (node: string): string =>
  `Start ${node}. If it is powered off for good, run: kubectl delete node ${node}, or: kubectl taint node ${node} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`;
