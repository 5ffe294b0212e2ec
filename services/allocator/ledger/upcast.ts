/**
 * The versions of the log's schema, and what lies between them. Whatever was ever written is read as if it had been written
 * today, so that nothing else knows of old shapes.
 *
 *   1  the first
 *   2  AddressUnbound says why: `cause`
 *   3  six types more: pools, reservations, quarantine
 *   4  three more: SegmentSealed, LedgerRestored, KeyRotated; AddressReleased knows the cause `detached`
 *   5  one more: ClaimsDropped; AddressAllocated says which earlier Pod uid it supersedes; SubnetConfigured may limit the
 *      addresses of a namespace; AddressUnbound knows the cause `node-out-of-service`
 */
import type { AddressUnbound, Event, ReleaseCause, UnbindCause } from '../domain/event.ts';

export type EventVersion = 1 | 2 | 3 | 4 | 5;

/** All that this program reads, oldest first; the last one is what it writes when all replicas can read it. */
export const eventVersions: readonly EventVersion[] = [1, 2, 3, 4, 5];

const since3: ReadonlySet<Event['type']> = new Set([
  'PoolConfigured',
  'PoolRetired',
  'AddressReserved',
  'ReservationCancelled',
  'AddressQuarantined',
  'QuarantineLifted',
] as const);

const since4: ReadonlySet<Event['type']> = new Set(['SegmentSealed', 'LedgerRestored', 'KeyRotated'] as const);

const since5: ReadonlySet<Event['type']> = new Set(['ClaimsDropped'] as const);

/** The first version that has events of a type: it can't be written as any before. */
export function firstVersionOf(type: Event['type']): EventVersion {
  if (since5.has(type)) return 5;
  if (since4.has(type)) return 4;
  return since3.has(type) ? 3 : 1;
}

/** The first version that can say all of an event: a reader of any before would not keep to it. */
export function firstVersionFor(event: Event): EventVersion {
  if (event.type === 'SubnetConfigured' && event.data.spec.maxAddressesPerNamespace !== undefined) return 5;
  return firstVersionOf(event.type);
}

/** An event's data in the shape of one of the versions. */
export type StoredData = Event['data'] | Omit<AddressUnbound['data'], 'cause'>;

/** Before there was a cause only a CNI DEL, or an ADD that failed, ended a binding. */
const causeBefore2: UnbindCause = 'container-deleted';

/** Attachments that a living Pod gave up were said to be an operator's doing. */
const detachedBefore4: ReleaseCause = 'operator';

/** A node that was taken out of service was said to be deleted: of both, no container runs there any more. */
const outOfServiceBefore5: UnbindCause = 'node-deleted';

/** An event's data as of today, from how `version` wrote it. */
export function upcast(version: EventVersion, type: Event['type'], data: StoredData): Event['data'] {
  if (version < 2 && type === 'AddressUnbound')
    return { ...(data as Omit<AddressUnbound['data'], 'cause'>), cause: causeBefore2 };
  return data;
}

/** An event's data as `version` writes it; what that version cannot say is left out, or said as it could be then. */
export function downcast(version: EventVersion, event: Event): StoredData {
  if (version < 4 && event.type === 'AddressReleased' && event.data.cause === 'detached')
    return { ...event.data, cause: detachedBefore4 };
  if (version < 5 && event.type === 'AddressAllocated') {
    const { supersedes: _, ...data } = event.data;
    return data;
  }
  return event.type === 'AddressUnbound' ? downcastUnbound(version, event.data) : event.data;
}

function downcastUnbound(version: EventVersion, data: AddressUnbound['data']): StoredData {
  if (version >= 5) return data;
  const { cause, ...rest } = data;
  if (version < 2) return rest;
  return cause === 'node-out-of-service' ? { ...data, cause: outOfServiceBefore5 } : data;
}
