/** Definitions of the events that take an address out of use because a foreign host answers on it, and end that. */
import { changeClaims } from './change-claims.ts';
import { claimOf, type State } from '../state/state.ts';
import { type EventDefinition, noOtherKey } from './event-definition.ts';

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
