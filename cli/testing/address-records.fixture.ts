/** Records of two addresses, and the history of a ledger that was restored from a backup. */
import type { MessageInput } from '../../proto/codec.ts';
import type { AddressRecord, HistoryRequest } from '../../proto/generated/ipledger.ts';
import { at, attachment, owner, position } from './address-events.fixture.ts';

const allocation = { attachment, podUid: 'one', node: 'node-a', owner, at: at(5), mac: '00:00:00:53:6b:bb' };

export const boundRecord: MessageInput<AddressRecord> = {
  subnet: 'macvlan',
  address: '172.17.0.100',
  state: 'bound',
  allocation,
  lastSeq: 7,
};
export const reservedRecord: MessageInput<AddressRecord> = {
  subnet: 'macvlan',
  address: '172.17.0.101',
  state: 'reserved',
  reservation: { reservedFor: 'vip/web', at: at(1) },
  lastSeq: 1,
};

/**
 * The backup ended with event 7. Event 8 is a bind that the ledger accepted while it was frozen.
 * Event 9 is LedgerRestored.
 */
export const restoredHistory = ({ pageToken, pageSize }: HistoryRequest) => ({
  position: { ...position, epoch: 2 },
  events: [
    { seq: 9, at: at(30), ledgerRestored: { epoch: 2, seq: 7 } },
    { seq: 8, at: at(25) },
    { seq: 7, at: at(7) },
  ]
    .filter(({ seq }) => seq <= Number(pageToken))
    .slice(0, pageSize),
});

/** The CLI's line about the lost period of that history. */
export const lostPeriodLine =
  'events between 2026-11-17 14:07:00 and 2026-11-17 14:30:00 are lost: etcd was restored from a backup\n';
