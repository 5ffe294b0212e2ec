/** What is reserved, and who may take it. */
import type { AttachmentRequest } from '../command.ts';
import type { Attachment } from '../event.ts';
import type { ClaimName } from '../journal.ts';
import { claimOf, type State } from '../state.ts';

/** What an address is reserved for that is an attachment's without saying so. */
export const reservedForAttachment = ({ namespace, pod, provider }: Omit<Attachment, 'ordinal'>): string =>
  `pod/${namespace}/${pod}/${provider}`;

/** What an attachment may take of what is reserved. */
export function entitlementsOf(
  attachment: Attachment,
  { reservation }: Pick<AttachmentRequest, 'reservation'>,
): ReadonlySet<string> {
  const own = reservedForAttachment(attachment);
  return new Set(reservation === '' ? [own] : [reservation, own]);
}

/** What is reserved in a subnet for just this, oldest first: an order that follows from the log. */
export function reservedIn(state: State, subnet: string, reservedFor: string): readonly ClaimName[] {
  const seqOf = ({ address }: ClaimName): number => claimOf(state, subnet, address)?.reservation?.seq ?? 0;
  return (state.reservations.get(reservedFor) ?? [])
    .filter((name) => name.subnet === subnet)
    .toSorted((a, b) => seqOf(a) - seqOf(b) || (a.address < b.address ? -1 : 1));
}
