/** Owners of reservations, and the reservations that an attachment may use. */
import type { AttachmentRequest } from '../../commands/command.ts';
import type { Attachment } from '../../values/allocation.ts';
import type { ClaimName } from '../../state/claim.ts';
import { claimOf, type State } from '../../state/state.ts';

/** The owner of reservations for one attachment. A request need not name it. */
export const reservationKeyOf = ({ namespace, pod, provider }: Omit<Attachment, 'ordinal'>): string =>
  `pod/${namespace}/${pod}/${provider}`;

/** The owners whose reserved addresses an attachment may take. */
export function entitlementsOf(
  attachment: Attachment,
  { reservation }: Pick<AttachmentRequest, 'reservation'>,
): ReadonlySet<string> {
  const own = reservationKeyOf(attachment);
  return new Set(reservation === '' ? [own] : [reservation, own]);
}

/** The addresses of a subnet that are reserved for one owner, oldest first. */
export function reservedAddressesFor(state: State, subnet: string, reservedFor: string): readonly ClaimName[] {
  const seqOf = ({ address }: ClaimName): number => claimOf(state, subnet, address)?.reservation?.seq ?? 0;
  return (state.reservations.get(reservedFor) ?? [])
    .filter((name) => name.subnet === subnet)
    .toSorted((a, b) => seqOf(a) - seqOf(b) || (a.address < b.address ? -1 : 1));
}
