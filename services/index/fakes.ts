/** Events for the specs of the read model. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode, encode, type Input } from '../../proto/codec.ts';
import type { Event, Position, WatchReply } from '../../proto/ipledger.ts';

/** Hours since 2026 began, as an instant. */
export const hour = (hours: number): string => new Date(Date.UTC(2026, 0, 1, hours)).toISOString();

const hashOf = (seq: number): string => `hash-${seq}`;

/** Event `seq` with what the test says of it; each happens an hour after the one before. */
export function event(seq: number, fields: Input<Event> = {}): Event {
  const chain = { prev: seq === 1 ? '' : hashOf(seq - 1), hash: hashOf(seq), stored: `{"seq":${seq}}` };
  const envelope = { seq, part: 1, parts: 1, at: hour(seq), subnet: 'lan', actor: 'ipledger://watcher', ...chain };
  return decode('Event', encode('Event', { ...envelope, ...fields })) as Event;
}

/** After an event. */
export const position = (seq: number, epoch = 1): Position => ({ epoch, seq, hash: hashOf(seq) });

export const reply = (events: readonly Event[], at = position(events.at(-1)?.seq ?? 0)): WatchReply => ({
  position: at,
  events: [...events],
});

/** The life of one Pod on one node, as its events say it: given (1), bound (2), released (3), unbound (4). */
export function life(first: number, { pod = 'web', node = 'node-1', subnet = 'lan', owner = 'web' } = {}): Event[] {
  const attachment = { namespace: 'default', pod, provider: `${subnet}.default`, ordinal: 0 };
  const whose = { attachment, uid: `uid-${pod}` };
  const container = { containerId: `container-of-${pod}`, interface: 'net1' };
  return [
    event(first, {
      subnet,
      type: 'AddressAllocated',
      addressAllocated: { ...whose, node: '', owner: { kind: 'ReplicaSet', name: owner, uid: `uid-of-${owner}` } },
    }),
    event(first + 1, { subnet, type: 'AddressBound', addressBound: { alloc: first, ...whose, ...container, node } }),
    event(first + 2, { subnet, type: 'AddressReleased', addressReleased: { alloc: first, ...whose } }),
    event(first + 3, { subnet, type: 'AddressUnbound', addressUnbound: { attachment, ...container } }),
  ];
}

/** A file in a folder of its own, which goes with `remove`. */
export function temporaryFile(): { readonly file: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'ipledger-index-'));
  return { file: join(folder, 'index.sqlite'), remove: () => rmSync(folder, { recursive: true }) };
}
