/** Converts MACs and container ids to numbers, by which they are indexed. */
import { applyEventTable, type EventTable } from '../../../proto/event-table.ts';
import type { Event } from '../../../proto/generated/ipledger.ts';

/** The hexadecimal digits of a MAC, and of a container id as runtimes print it. */
const digits = 12;
const containerOffset = 2 ** 48;

/** The number of a text that looks like a MAC; undefined for other texts. */
export function macMark(text: string): number | undefined {
  const isMac = /^[\da-f]{2}(?:[:-][\da-f]{2}){5}$/i.test(text);
  return isMac ? Number.parseInt(text.replaceAll(/[:-]/g, ''), 16) : undefined;
}

/** The number of a container id's first 12 digits; undefined for other texts. */
export function containerMark(text: string): number | undefined {
  const isId = /^[\da-f]{12,128}$/i.test(text);
  return isId ? containerOffset + Number.parseInt(text.slice(0, digits), 16) : undefined;
}

/** The numbers of the MACs and container ids in an event. */
export const marksOf = (event: Event): number[] =>
  (applyEventTable(marks, event) ?? []).filter((mark): mark is number => mark !== undefined);

const none = (): (number | undefined)[] => [];

const marks: EventTable<(number | undefined)[]> = {
  addressAllocated: ({ mac }) => [macMark(mac)],
  addressTransferred: ({ mac }) => [macMark(mac)],
  addressReserved: ({ mac }) => [macMark(mac)],
  addressQuarantined: ({ seenMac }) => [macMark(seenMac)],
  addressBound: ({ containerId }) => [containerMark(containerId)],
  addressUnbound: none,
  addressReleased: none,
  reservationCancelled: none,
  quarantineLifted: none,
  claimsDropped: none,
  allocationRefused: none,
  ledgerCreated: none,
  subnetConfigured: none,
  subnetRetired: none,
  poolConfigured: none,
  poolRetired: none,
  segmentSealed: none,
  historyDropped: none,
  ledgerRestored: none,
  keyRotated: none,
};
