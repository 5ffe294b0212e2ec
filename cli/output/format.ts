/** Formats objects of the ledger for people. */
import type {
  AddressRecord,
  Allocation,
  AllocationCause,
  Attachment,
  Position,
  ReleaseCause,
  SubnetSpec,
  UnbindCause,
  WriteObstacle,
  Binding,
} from '../../proto/generated/ipledger.ts';

/** "namespace/name" of a Pod. */
export const podKey = (pod: { readonly namespace: string; readonly name: string }): string =>
  `${pod.namespace}/${pod.name}`;

/** "namespace/name" of an attachment's Pod; "" without an attachment. */
export const formatPodName = (attachment: Attachment | undefined): string =>
  attachment ? `${attachment.namespace}/${attachment.pod}` : '';

/** "10.0.0.2,fd00::2" */
export const formatAddresses = ({ addresses }: Pick<Allocation, 'addresses'>): string =>
  addresses.map(({ address }) => address).join(',');

/** An allocation with what finds it in the ledger. */
export const formatAllocation = (allocation: Allocation): string =>
  `${formatAddresses(allocation)} of subnet ${allocation.subnet} (${allocation.attachment?.provider}, uid ${allocation.podUid}, event ${allocation.seq})`;

/** The configuration of a subnet. */
export function formatSubnet({ cidrBlock, provider, excludeIps }: SubnetSpec): string {
  const excluded = excludeIps.length > 0 ? `without ${excludeIps.join(' ')}` : '';
  return joinNonEmpty(', ', cidrBlock, `provider ${provider}`, excluded);
}

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

/** The non-empty texts, joined. */
export const joinNonEmpty = (separator: string, ...parts: string[]): string =>
  parts.filter((part) => part !== '').join(separator);

/** The first 12 characters, as container runtimes print it. */
export const shortContainerId = (containerId: string): string => containerId.slice(0, 12);

/** A cause as the stored events spell it: "pod-deleted". A cause of a newer server is a number. */
export function formatCause(cause: AllocationCause | ReleaseCause | UnbindCause | number): string {
  return String(cause)
    .replace(/^(ALLOCATION|RELEASE|UNBIND)_CAUSE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
}

/** Why nothing can be written to the ledger. */
export const describeObstacle = (
  { message, since }: WriteObstacle,
  formatInstant: (instant: string) => string,
): string => `since ${formatInstant(since)}: ${message}`;

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
