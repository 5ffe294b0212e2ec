/** Texts for objects of the ledger: Pods, Subnets, containers, causes. */
import type {
  AllocationCause,
  Attachment,
  ReleaseCause,
  SubnetSpec,
  UnbindCause,
} from '../../proto/generated/ipledger.ts';

/** "namespace/name" of an attachment's Pod; "" without an attachment. */
export const formatPodName = (attachment: Attachment | undefined): string =>
  attachment ? `${attachment.namespace}/${attachment.pod}` : '';

/** The configuration of a subnet. */
export function formatSubnet({ cidrBlock, provider, excludeIps }: SubnetSpec): string {
  const excluded = excludeIps.length > 0 ? `without ${excludeIps.join(' ')}` : '';
  return joinNonEmpty(', ', cidrBlock, `provider ${provider}`, excluded);
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
