/** Formats events as rows: subject and detail of each. */
import { summarizeEvent } from '../../lib/ledger-text/event-summary.ts';
import { formatPodName } from '../../lib/ledger-text/texts.ts';
import type { Event } from '../../proto/generated/ipledger.ts';
import type { Column } from './table.ts';

/** The columns of a list of events. Long columns of little use are `wide`. */
export const eventColumns: readonly Column[] = [
  { name: 'SEQ' },
  { name: 'TIME', time: true },
  { name: 'EVENT', minWidth: 'AddressTransferred'.length },
  { name: 'ADDRESS' },
  { name: 'POD' },
  { name: 'DETAIL' },
  { name: 'SUBNET' },
  { name: 'UID', wide: true },
  { name: 'PROVIDER', wide: true },
  { name: 'ACTOR', wide: true },
  { name: 'COMMAND', wide: true },
];

/** The columns for the history of one address, where ADDRESS would repeat in every row. */
export const addressHistoryColumns: readonly Column[] = eventColumns.map((column) =>
  column.name === 'ADDRESS' ? { ...column, wide: true } : column,
);

/** The cells of an event, in these columns. */
export function formatEventRow(event: Event): string[] {
  const { attachment, uid, detail } = summarizeEvent(event);
  return [
    String(event.seq),
    event.at,
    event.type,
    formatEventAddresses(event),
    formatPodName(attachment),
    detail,
    event.subnet,
    uid ?? '',
    attachment?.provider ?? '',
    event.actor,
    event.command,
  ];
}

/** The addresses that an event touches. */
const addressesInEvent = ({ before }: Event): string[] => before.map(({ address }) => address);

/** Formats the addresses: ClaimsDropped has very many, so only the first and the count. */
function formatEventAddresses(event: Event): string {
  const [first = '', ...others] = addressesInEvent(event);
  return event.claimsDropped && others.length > 0 ? `${first} and ${others.length} more` : [first, ...others].join(',');
}
