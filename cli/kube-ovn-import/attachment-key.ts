/** Keys that identify an attachment of a Pod, in the ledger and in the cluster. */
import type { Allocation } from '../../proto/generated/ipledger.ts';
import type { ObservedAttachment } from './observed-attachments.ts';

interface AttachmentName {
  readonly namespace: string;
  readonly pod: string;
  readonly provider: string;
  readonly ordinal: number;
}

export const attachmentKey = ({ namespace, pod, provider, ordinal }: AttachmentName): string =>
  `${namespace}/${pod} ${provider} ${ordinal}`;

export const allocationKey = ({ attachment }: Allocation): string =>
  attachmentKey(attachment ?? { namespace: '', pod: '', provider: '', ordinal: 0 });

export const observedKey = ({ holder, provider, ordinal }: ObservedAttachment): string =>
  attachmentKey({ namespace: holder.namespace, pod: holder.name, provider, ordinal });
