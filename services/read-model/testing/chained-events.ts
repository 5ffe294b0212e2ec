/** Test support: events whose lines and hashes form a chain, as the allocator sends them. */
import { createHash } from 'node:crypto';
import { decode, encode } from '../../../proto/codec.ts';
import type { Event, Position } from '../../../proto/generated/ipledger.ts';

/** Adds to each event its line, the line's hash, and the hash of the previous event. */
export function chained(events: readonly Event[]): Event[] {
  let prev = '';
  return events.map((event) => {
    const { seq, type, subnet, at, actor, stored: _, prev: _prev, hash: _hash, ...data } = event;
    const [id, cmd] = [`id-${seq}`, `command-${seq}`];
    const envelope = { v: 1, seq, id, cmd, part: [1, 1], type, subnet, at, actor, before: {} };
    const stored = JSON.stringify({ ...envelope, data, prev });
    const hash = createHash('sha256').update(stored).digest('hex');
    const complete = { ...event, id, command: cmd, stored, prev, hash };
    prev = hash;
    return decode('Event', encode('Event', complete)) as Event;
  });
}

/** The position after the last event. */
export const positionAfter = (events: readonly Event[]): Position => ({
  epoch: 1,
  seq: events.at(-1)?.seq ?? 0,
  hash: events.at(-1)?.hash ?? '',
});
