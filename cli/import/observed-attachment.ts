/** An attachment of a Pod with the addresses that a record or an annotation shows. Pure. */
import type { Allocation, Attachment, Owner, Route } from '../../proto/generated/ipledger.ts';
import type { KubeOvnIp } from '../cluster/cluster-snapshot.ts';
import type { Pod } from '../cluster/cluster-state.ts';
import { podKey } from '../output/format.ts';

/** The Pod of an attachment. */
export interface Holder {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly owner: Owner | undefined;
}

/** The addresses of one attachment of a Pod. */
export interface ObservedAttachment {
  readonly holder: Holder;
  readonly provider: string;
  readonly ordinal: number;
  readonly interface: string;
  /** The addresses in canonical form. */
  readonly addresses: readonly string[];
  /** The Subnet; "" if unknown. */
  readonly subnet: string;
  readonly mac: string;
  readonly routes: readonly Route[];
  readonly defaultRoute: boolean | undefined;
  /** The Vip that has the addresses; "" for none. */
  readonly vip: string;
  /** The IP object of the attachment; it may be missing. */
  readonly ipObject: KubeOvnIp | undefined;
  /** Whether the addresses are from a record that tenants cannot write. */
  readonly isRecorded: boolean;
  /** The event of an export that allocated them, for a recovery. */
  readonly exportedAs?: number;
  /** The node whose agent has them in a binding file, for a recovery. */
  readonly boundOn?: string;
  /** Whether the Pod requests the network. */
  readonly isRequested: boolean;
  /** The addresses of the Pod's annotation. */
  readonly annotated: readonly string[];
  /** The reason why the attachment is invalid, as a clause. */
  readonly problem?: string;
}

/** The fields that each record of an attachment has. */
export type AttachmentRecord = Pick<
  ObservedAttachment,
  'provider' | 'ordinal' | 'interface' | 'subnet' | 'addresses' | 'mac'
>;

/** An attachment that a record shows, and no annotation. */
export function createAttachment(holder: Holder, record: AttachmentRecord): ObservedAttachment {
  const absent = { routes: [], defaultRoute: undefined, vip: '', ipObject: undefined, annotated: [] };
  return { holder, ...record, ...absent, isRecorded: true, isRequested: true };
}

/** The most attachments of a Pod that the ledger accepts. A tenant can write more annotations. */
export const maxNics = 24;
/** IFNAMSIZ without the terminator. */
export const maxInterfaceLength = 15;

export const holderOf = ({ namespace, name, ledgerName = name, identity: uid, node, owner }: Pod): Holder => ({
  namespace,
  name: ledgerName,
  uid,
  node,
  owner,
});

export const formatHolder = ({ holder }: Pick<ObservedAttachment, 'holder'>): string => `Pod ${podKey(holder)}`;

/** Whether more than an annotation shows the addresses. */
export const isProven = ({ isRecorded, boundOn }: ObservedAttachment): boolean => isRecorded || boundOn !== undefined;

/** Identifies an attachment of a Pod, in the ledger and in the cluster. */
export const attachmentKey = ({ namespace, pod, provider, ordinal }: Attachment): string =>
  `${namespace}/${pod} ${provider} ${ordinal}`;

export const allocationKey = ({ attachment }: Allocation): string =>
  attachmentKey(attachment ?? { namespace: '', pod: '', provider: '', ordinal: 0 });

export const observedKey = ({ holder, provider, ordinal }: ObservedAttachment): string =>
  attachmentKey({ namespace: holder.namespace, pod: holder.name, provider, ordinal });
