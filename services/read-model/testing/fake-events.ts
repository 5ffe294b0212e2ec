/** Events for the specs of the read model. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode, encode, type MessageInput } from '../../../proto/codec.ts';
import type { Event, Position, WatchReply } from '../../../proto/generated/ipledger.ts';

/** The time this many hours after the beginning of 2026. */
export const hourInstant = (hours: number): string => new Date(Date.UTC(2026, 0, 1, hours)).toISOString();

const hashOf = (seq: number): string => `hash-${seq}`;

/** Event `seq` with the given fields. Events are one hour apart. */
export function fakeEvent(seq: number, fields: MessageInput<Event> = {}): Event {
  const chain = { prev: seq === 1 ? '' : hashOf(seq - 1), hash: hashOf(seq), stored: `{"seq":${seq}}` };
  const envelope = {
    seq,
    part: 1,
    parts: 1,
    at: hourInstant(seq),
    subnet: 'lan',
    actor: 'ipledger://watcher',
    ...chain,
  };
  return decode('Event', encode('Event', { ...envelope, ...fields })) as Event;
}

/** The position after an event. */
export const fakePosition = (seq: number, epoch = 1): Position => ({ epoch, seq, hash: hashOf(seq) });

export const watchReply = (events: readonly Event[], at = fakePosition(events.at(-1)?.seq ?? 0)): WatchReply => ({
  position: at,
  events: [...events],
});

/** The events of one Pod on one node: allocated (1), bound (2), released (3), unbound (4). */
export function podLifeEvents(
  first: number,
  { pod = 'web', node = 'node-1', subnet = 'lan', owner = 'web' } = {},
): Event[] {
  const attachment = { namespace: 'default', pod, provider: `${subnet}.default`, ordinal: 0 };
  const subject = { attachment, uid: `uid-${pod}` };
  const container = { containerId: `container-of-${pod}`, interface: 'net1' };
  return [
    fakeEvent(first, {
      subnet,
      type: 'AddressAllocated',
      addressAllocated: { ...subject, node: '', owner: { kind: 'ReplicaSet', name: owner, uid: `uid-of-${owner}` } },
    }),
    fakeEvent(first + 1, {
      subnet,
      type: 'AddressBound',
      addressBound: { alloc: first, ...subject, ...container, node },
    }),
    fakeEvent(first + 2, { subnet, type: 'AddressReleased', addressReleased: { alloc: first, ...subject } }),
    fakeEvent(first + 3, { subnet, type: 'AddressUnbound', addressUnbound: { attachment, ...container } }),
  ];
}

/** A file in a temporary folder, which `remove` deletes. */
export function temporaryFile(): { readonly file: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'ipledger-read-model-'));
  return { file: join(folder, 'read-model.sqlite'), remove: () => rmSync(folder, { recursive: true }) };
}
