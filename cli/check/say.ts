/** How things are named to a person, wherever they are told. */
import type { Allocation, Attachment } from '../../proto/ipledger.ts';

/** "namespace/name" */
export const podKey = (pod: { readonly namespace: string; readonly name: string }): string =>
  `${pod.namespace}/${pod.name}`;

/** The Pod of an attachment, "namespace/name". */
export const podOf = (attachment: Attachment | undefined): string =>
  `${attachment?.namespace ?? ''}/${attachment?.pod ?? ''}`;

/** "10.0.0.2,fd00::2" */
export const addressesOf = ({ addresses }: Allocation): string => addresses.map(({ address }) => address).join(',');

/** An allocation so that it can be found in the ledger. */
export const said = (allocation: Allocation): string =>
  `${addressesOf(allocation)} of subnet ${allocation.subnet} (${allocation.attachment?.provider}, uid ${allocation.podUid}, event ${allocation.seq})`;
