/** Formats reserved addresses as rows. */
import type { AddressRecord } from '../../proto/generated/ipledger.ts';
import type { Column, Listing } from './table.ts';

const columns: readonly Column[] = [
  { name: 'SUBNET' },
  { name: 'ADDRESS' },
  { name: 'OWNER' },
  { name: 'STATE' },
  { name: 'REASON' },
  { name: 'SINCE', time: true },
];

export const createReservationListing = (records: readonly AddressRecord[]): Listing => ({
  columns,
  rows: records.map(formatRow),
});

const formatRow = ({ subnet, address, state, reservation }: AddressRecord): string[] => [
  subnet,
  address,
  reservation?.reservedFor ?? '',
  state,
  reservation?.reason ?? '',
  reservation?.at ?? '',
];
