/** Formats a quarantined address as a row and as a sentence. */
import type { AddressRecord } from '../../proto/generated/ipledger.ts';
import { formatTime, type TimeZone } from '../time/times.ts';
import { joinNonEmpty } from './format.ts';
import { textColumns, type Listing } from './table.ts';

const columns = textColumns('SUBNET', 'ADDRESS', 'STATE', 'SEEN MAC', 'SEEN ON', 'REASON', 'SINCE');

/** One row. */
export function createQuarantineListing({ subnet, address, state, quarantine }: AddressRecord): Listing {
  const { seenMac = '', seenAt = '', reason = '', at = '' } = quarantine ?? {};
  return { columns, rows: [[subnet, address, state, seenMac, seenAt, reason, at]] };
}

/** "10.0.0.30 of subnet lan is quarantined since …: 52:54:00:00:00:01 answers on it, seen on node-2, a printer" */
export function formatQuarantine({ subnet, address, quarantine }: AddressRecord, zone: TimeZone): string {
  const { seenMac = '', seenAt = '', reason = '', at = '' } = quarantine ?? {};
  const answers = seenMac === '' ? '' : `${seenMac} answers on it`;
  const why = joinNonEmpty(', ', answers, seenAt === '' ? '' : `seen on ${seenAt}`, reason);
  return `${address} of subnet ${subnet} is quarantined since ${formatTime(at, zone)}: ${why}`;
}
