/**
 * The filters of the events in the query of the page, and the part of them that the server applies.
 */
import type { EventType } from '../../../../ledger/domain/events/event.ts';
import type { EventRow } from '../../api/event.ts';

export type Filters = Readonly<Record<string, string>>;

export const filterFields = [
  { name: 'subnet', label: 'Subnet', placeholder: 'lan' },
  { name: 'address', label: 'Address', placeholder: '10.8.0.5' },
  { name: 'namespace', label: 'Namespace', placeholder: 'default' },
  { name: 'pod', label: 'Pod', placeholder: 'web-0' },
  { name: 'node', label: 'Node', placeholder: 'node-1' },
  { name: 'owner', label: 'Owner', placeholder: 'default/StatefulSet/web' },
  { name: 'actor', label: 'By', placeholder: 'kubernetes:alice' },
  { name: 'since', label: 'Since', placeholder: '2026-11-17T14:05:00Z' },
  { name: 'until', label: 'Until', placeholder: '2026-11-17T15:00:00Z' },
] as const;

/** The types of events. The compiler compares them with the types of the ledger. */
const types: Readonly<Record<EventType, true>> = {
  AddressAllocated: true,
  AddressBound: true,
  AddressUnbound: true,
  AddressReleased: true,
  AddressTransferred: true,
  AllocationRefused: true,
  AddressReserved: true,
  ReservationCancelled: true,
  AddressQuarantined: true,
  QuarantineLifted: true,
  SubnetConfigured: true,
  SubnetRetired: true,
  PoolConfigured: true,
  PoolRetired: true,
  ClaimsDropped: true,
  SegmentSealed: true,
  HistoryDropped: true,
  LedgerCreated: true,
  LedgerRestored: true,
  KeyRotated: true,
};
export const eventTypes = Object.keys(types);

/** The query of the list: one subject. A Pod needs a namespace; an owner has three fields. */
export function listQuery(filters: Filters): Filters {
  const { subnet, address, namespace, pod, node, owner, since, until } = filters;
  const isPod = namespace !== undefined && pod !== undefined;
  const ofOwner = owner === undefined ? {} : partsOfOwner(owner);
  return defined({ subnet, address, ...(isPod && { namespace, pod }), node, ...ofOwner, since, until });
}

/** Splits "namespace/kind/name" or "kind/name", as the command line has it. */
function partsOfOwner(text: string): Readonly<Record<string, string | undefined>> {
  const [owner, ownerKind, namespace] = text.split('/').reverse();
  return { namespace, ownerKind, owner };
}

/** The query of the stream; undefined for a filter that it lacks, or if the period is over. */
export function streamQuery({
  subnet,
  address,
  namespace,
  pod,
  node,
  owner,
  actor,
  type,
  until,
}: Filters): Filters | undefined {
  if (owner !== undefined || until !== undefined) return undefined;
  return defined({ subnet, address, namespace, pod, node, actor, type });
}

const defined = (fields: Readonly<Record<string, string | undefined>>): Filters =>
  Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined));

/** Applies the filters that the list of the server does not have. */
export function eventMatches(event: EventRow, { namespace, pod, actor, type }: Filters): boolean {
  return (
    (namespace === undefined || event.pod?.namespace === namespace) &&
    (pod === undefined || event.pod?.name === pod) &&
    (actor === undefined || event.actor === actor) &&
    (type === undefined || event.type === type)
  );
}
