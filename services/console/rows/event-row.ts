/** Events as rows of the console, with the texts of `ipledger history`. */
import { summarizeEvent } from '../../../lib/ledger-text/event-summary.ts';
import { formatCause } from '../../../lib/ledger-text/texts.ts';
import type { Event } from '../../../proto/generated/ipledger.ts';
import type { EventDetail, EventRow } from '../api/event.ts';

/** The most addresses of a row. ClaimsDropped has very many. */
const maxAddresses = 100;

export function eventRow(event: Event): EventRow {
  const { attachment, uid = '', detail } = summarizeEvent(event);
  const before = event.before.slice(0, maxAddresses);
  return {
    seq: event.seq,
    at: event.at,
    type: event.type,
    actor: event.actor,
    subnet: event.subnet,
    addresses: before.map(({ address }) => address),
    pod: attachment ? { namespace: attachment.namespace, name: attachment.pod, uid } : null,
    node: (event.addressAllocated ?? event.addressTransferred ?? event.addressBound)?.node ?? '',
    cause: causeOf(event),
    text: detail,
    before: Object.fromEntries(before.map(({ address, seq }) => [address, seq])),
  };
}

function causeOf({ addressAllocated, addressReleased, addressUnbound }: Event): string {
  const { cause } = addressAllocated ?? addressReleased ?? addressUnbound ?? {};
  return cause === undefined ? '' : formatCause(cause);
}

export const eventDetail = (event: Event): EventDetail => {
  const { stored, hash, prev } = event;
  return { ...eventRow(event), stored, hash, prev };
};
