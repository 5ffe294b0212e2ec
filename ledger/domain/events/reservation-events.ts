/** Definitions of events that begin and end a reservation or a quarantine. */
import { changeClaims } from './change-claims.ts';
import { claimOf, type State } from '../state/state.ts';
import { type EventDefinition, noOtherKey } from './event-definition.ts';

export const addressReserved: EventDefinition<'AddressReserved'> = {
  since: 3,
  changes: [],
  addressesOf: ({ addresses }) => addresses,
  otherKeyOf: noOtherKey,
  evolve: (state, event, undoLog) => {
    const { addresses, reservedFor, reason, mac } = event.data;
    const reservation = { reservedFor, reason, mac, seq: event.seq, at: event.at };
    changeClaims(state, event, { addresses, change: (claim) => ({ ...claim, reservation }) }, undoLog);
  },
  brokenRule: (state, { subnet, data: { addresses } }) => {
    for (const address of addresses) {
      const present = reservedFor(state, subnet, address);
      if (present !== undefined) return `reserves ${address}, which is reserved for ${present}`;
    }
    return undefined;
  },
};

export const reservationCancelled: EventDefinition<'ReservationCancelled'> = {
  since: 3,
  changes: [],
  addressesOf: ({ addresses }) => addresses,
  otherKeyOf: noOtherKey,
  evolve: (state, event, undoLog) =>
    changeClaims(
      state,
      event,
      { addresses: event.data.addresses, change: ({ reservation: _, ...claim }) => claim },
      undoLog,
    ),
  brokenRule: (state, { subnet, data }) => {
    for (const address of data.addresses) {
      const present = reservedFor(state, subnet, address);
      if (present !== data.reservedFor)
        return `ends the reservation of ${address} for ${data.reservedFor}, which is ${present === undefined ? 'not reserved' : `reserved for ${present}`}`;
    }
    return undefined;
  },
};

const reservedFor = (state: State, subnet: string, address: string): string | undefined =>
  claimOf(state, subnet, address)?.reservation?.reservedFor;

export const addressQuarantined: EventDefinition<'AddressQuarantined'> = {
  since: 3,
  changes: [],
  addressesOf: ({ address }) => [address],
  otherKeyOf: noOtherKey,
  evolve: (state, event, undoLog) => {
    const { address, seenMac, seenAt, reason } = event.data;
    const quarantine = { seenMac, seenAt, reason, seq: event.seq, at: event.at };
    changeClaims(state, event, { addresses: [address], change: (claim) => ({ ...claim, quarantine }) }, undoLog);
  },
  brokenRule: (state, { subnet, data: { address } }) =>
    isQuarantined(state, subnet, address) ? `quarantines ${address}, which is quarantined already` : undefined,
};

export const quarantineLifted: EventDefinition<'QuarantineLifted'> = {
  since: 3,
  changes: [],
  addressesOf: ({ address }) => [address],
  otherKeyOf: noOtherKey,
  evolve: (state, event, undoLog) =>
    changeClaims(
      state,
      event,
      { addresses: [event.data.address], change: ({ quarantine: _, ...claim }) => claim },
      undoLog,
    ),
  brokenRule: (state, { subnet, data: { address } }) =>
    isQuarantined(state, subnet, address) ? undefined : `ends the quarantine of ${address}, which is not quarantined`,
};

const isQuarantined = (state: State, subnet: string, address: string): boolean =>
  claimOf(state, subnet, address)?.quarantine !== undefined;
