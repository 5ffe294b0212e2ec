/**
 * The registry of events: one definition for each event type. A type without a definition is a
 * compile error.
 *
 * Some tables outside the ledger also have a row for each event type. They are listed in
 * docs/where-a-change-goes.md, "Add an event".
 */
import { addressAllocated, addressReleased, addressTransferred, allocationRefused } from './allocation-events.ts';
import { addressBound, addressUnbound } from './binding-events.ts';
import { claimsDropped } from './claims-dropped.ts';
import type { Event, EventType, Sequenced } from './event.ts';
import type { EventDefinition, OtherKey } from './event-definition.ts';
import { historyDropped, keyRotated, ledgerCreated, ledgerRestored, segmentSealed } from './ledger-events.ts';
import { poolConfigured, poolRetired, subnetConfigured, subnetRetired } from './subnet-events.ts';
import { addressQuarantined, quarantineLifted, addressReserved, reservationCancelled } from './reservation-events.ts';
import type { EventVersion } from './schema-version.ts';
import type { State } from '../state/state.ts';
import type { UndoLog } from '../state/undo-log.ts';

/** All event types that this program reads and writes. */
export const eventDefinitions: { readonly [Type in EventType]: EventDefinition<Type> } = {
  LedgerCreated: ledgerCreated,
  SubnetConfigured: subnetConfigured,
  SubnetRetired: subnetRetired,
  AddressAllocated: addressAllocated,
  AddressTransferred: addressTransferred,
  AllocationRefused: allocationRefused,
  AddressBound: addressBound,
  AddressUnbound: addressUnbound,
  AddressReleased: addressReleased,
  PoolConfigured: poolConfigured,
  PoolRetired: poolRetired,
  AddressReserved: addressReserved,
  ReservationCancelled: reservationCancelled,
  AddressQuarantined: addressQuarantined,
  QuarantineLifted: quarantineLifted,
  ClaimsDropped: claimsDropped,
  SegmentSealed: segmentSealed,
  HistoryDropped: historyDropped,
  LedgerRestored: ledgerRestored,
  KeyRotated: keyRotated,
};

export const eventTypes = Object.keys(eventDefinitions) as readonly EventType[];

export const isEventType = (name: string): boolean => Object.hasOwn(eventDefinitions, name);

/** The cast is safe, because the registry pairs each type with its definition. */
export const definitionOf = (type: EventType): EventDefinition<EventType> =>
  eventDefinitions[type] as EventDefinition<EventType>;

export const addressesOf = (event: Event): readonly string[] => definitionOf(event.type).addressesOf(event.data);

export const otherKeyOf = (event: Sequenced): OtherKey | undefined => definitionOf(event.type).otherKeyOf(event);

export const brokenRule = (state: State, event: Sequenced, version: EventVersion): string | undefined =>
  definitionOf(event.type).brokenRule(state, event, version);

/**
 * Changes the state in place. The undo log records how to undo the change.
 * @throws Error for an unknown type: an event is never skipped.
 */
export function evolve(state: State, event: Sequenced, undoLog: UndoLog): void {
  if (!isEventType(event.type)) throw new Error(`unknown event ${JSON.stringify(event)}: upgrade this program`);
  definitionOf(event.type).evolve(state, event, undoLog);
}
