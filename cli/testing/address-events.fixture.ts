/** The events of one address that two Pods had, and their parts. */
import type { MessageInput } from '../../proto/codec.ts';
import type { Event } from '../../proto/generated/ipledger.ts';

/** The position of the ledger. */
export const position = { epoch: 1, seq: 42, hash: '5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9' };
export const attachment = { namespace: 'default', pod: 'web-0', provider: 'macvlan.default' };
/** The owner of the first Pod. */
export const owner = { kind: 'StatefulSet', name: 'web', uid: 'uid-of-web' };
/** A time in the hour of the events. */
export const at = (minute: number): string => `2026-11-17T14:${String(minute).padStart(2, '0')}:00.000Z`;
/** An event at minute `seq`. */
export const event = (seq: number, rest: MessageInput<Event>): MessageInput<Event> => ({
  seq,
  at: at(seq),
  subnet: 'macvlan',
  actor: 'ipledger://watcher',
  before: [{ address: '172.17.0.100' }],
  ...rest,
});

/**
 * The events of 172.17.0.100, newest first: Pod "one" had it from 14:05 to 14:30, Pod "two" has it
 * since 14:40.
 */
export const addressEvents = [
  event(40, {
    type: 'AddressAllocated',
    addressAllocated: {
      attachment,
      uid: 'two',
      cause: 'ALLOCATION_CAUSE_DYNAMIC',
      node: 'node-b',
      addresses: [{ address: '172.17.0.100' }],
    },
  }),
  event(31, {
    type: 'AddressUnbound',
    addressUnbound: {
      attachment,
      containerId: 'c0ffee'.repeat(4),
      interface: 'net1',
      cause: 'UNBIND_CAUSE_CONTAINER_DELETED',
    },
  }),
  event(30, {
    type: 'AddressReleased',
    addressReleased: {
      attachment,
      uid: 'one',
      alloc: 5,
      cause: 'RELEASE_CAUSE_OWNER_DELETED',
      evidence: 'web was deleted',
    },
  }),
  event(7, {
    type: 'AddressBound',
    addressBound: {
      attachment,
      uid: 'one',
      alloc: 5,
      containerId: 'c0ffee'.repeat(4),
      interface: 'net1',
      node: 'node-a',
    },
  }),
  event(5, {
    type: 'AddressAllocated',
    addressAllocated: {
      attachment,
      uid: 'one',
      owner,
      mac: '00:00:00:53:6b:bb',
      cause: 'ALLOCATION_CAUSE_STATIC',
      addresses: [{ address: '172.17.0.100' }],
    },
  }),
];
