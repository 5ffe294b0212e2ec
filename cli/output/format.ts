/** Formats objects of the ledger for people. */
import type { AddressRecord, Allocation, Position, WriteObstacle, Binding } from '../../proto/generated/ipledger.ts';
import { formatPodName, shortContainerId } from '../../lib/ledger-text/texts.ts';

/** Returns "namespace/name" of a Pod. */
export const podKey = (pod: { readonly namespace: string; readonly name: string }): string =>
  `${pod.namespace}/${pod.name}`;

/** Formats addresses: "10.0.0.2,fd00::2". */
export const formatAddresses = ({ addresses }: Pick<Allocation, 'addresses'>): string =>
  addresses.map(({ address }) => address).join(',');

/** An allocation with what identifies it in the ledger. */
export const formatAllocation = (allocation: Allocation): string =>
  `${formatAddresses(allocation)} of subnet ${allocation.subnet} (${allocation.attachment?.provider}, uid ${allocation.podUid}, event ${allocation.seq})`;

/** Describes an address without a record in this subnet, or in any. */
export const formatNeverUsed = (subnet: string | undefined): string =>
  `was never used in ${subnet ? `subnet ${subnet}` : 'any subnet'}`;

/** The position that a state belongs to. @param at the formatted time of the position's event. */
export const formatPosition = (position: Position | undefined, at: string): string =>
  position && position.seq > 0 ? `as of event ${position.seq} at ${at}` : 'before the first event of the ledger';

/** The Pod that holds an address, or the reason of its quarantine or reservation. */
export function formatHolder({ allocation, reservation, quarantine }: AddressRecord): string {
  if (allocation?.attachment) return formatPodName(allocation.attachment);
  return quarantine?.reason ?? reservation?.reservedFor ?? '';
}

/** Describes why nothing can be written to the ledger. */
export const describeObstacle = (
  { message, since }: WriteObstacle,
  formatInstant: (instant: string) => string,
): string => `since ${formatInstant(since)}: ${message}`;

type HoldingContainer = Pick<Binding, 'containerId' | 'node' | 'at'>;

/** The container, its node, and since when. */
export const describeContainer = ({ containerId, node, at }: HoldingContainer): string =>
  `container ${shortContainerId(containerId)} on node ${node}, bound since ${at}`;

/** Describes what ends the binding of a container. The node alone knows whether it runs. */
export const endOfBinding = (node: string): string =>
  `the CNI DEL of that container, a reboot of ${node}, or a binding timeout of the Subnet ends that. ${lostNodeRemedy(node)}`;

/** The commands for a node that does not come back; both end the bindings of its containers. */
export const lostNodeRemedy = (node: string): string =>
  `Start ${node}. If it is powered off for good, run: kubectl delete node ${node}, or: kubectl taint node ${node} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`;
