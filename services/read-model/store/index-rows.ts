/** Reads the rows by which events are found, without row keys, to compare two databases. */
import type { DatabaseSync } from 'node:sqlite';
import type { Event } from '../../../proto/generated/ipledger.ts';
import { marksOf } from './name-marks.ts';

const rows = `
  SELECT e.seq, e.at, s.name AS subnet, p.namespace, p.name AS pod, n.name AS node, o.uid, o.kind, o.name AS owner, o.namespace AS home
  FROM events e
  LEFT JOIN subnets s ON s.id = e.subnet LEFT JOIN pods p ON p.id = e.pod
  LEFT JOIN nodes n ON n.id = e.node LEFT JOIN owners o ON o.id = e.owner
  WHERE e.seq BETWEEN ? AND ? ORDER BY e.seq`;

const allocation = `
  SELECT 1 FROM allocations
  WHERE address = (SELECT id FROM addresses WHERE subnet = ? AND address = ?) AND seq = ?`;

const changes = `
  SELECT s.name, c.seq, c.ip, c.state FROM events e JOIN subnets s ON s.id = e.subnet
  JOIN changes c ON c.subnet = e.subnet AND c.seq = e.seq WHERE e.seq BETWEEN ? AND ? ORDER BY c.seq, c.ip`;

const marks = 'SELECT mark, seq FROM marks WHERE seq = ? AND mark = ?';

/**
 * Returns a text for each row of consecutive events, and for each address that they changed.
 *
 * @param withStates also what they made of the address, which depends on all events before
 */
export function foundBy(database: DatabaseSync, events: readonly Event[], withStates: boolean): string[] {
  const [first = 0, last = 0] = [events[0]?.seq, events.at(-1)?.seq];
  const found = [rows, withStates ? changes : changes.replace(', c.state', '')].flatMap((query) =>
    database
      .prepare(query)
      .all(first, last)
      .map((row) => Object.values(row).join(' ')),
  );
  const findMark = database.prepare(marks);
  for (const event of events)
    for (const mark of marksOf(event)) if (findMark.get(event.seq, mark)) found.push(`${mark} ${event.seq}`);
  const findAllocation = database.prepare(allocation);
  for (const { seq, subnet, addressAllocated } of events)
    for (const { address } of addressAllocated?.addresses ?? [])
      if (findAllocation.get(subnet, address, seq)) found.push(`${subnet} ${address} ${seq}`);
  return found;
}
