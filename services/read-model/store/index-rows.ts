/** Reads what events are found by, with names for row keys, to compare two databases. */
import type { DatabaseSync } from 'node:sqlite';
import type { Event } from '../../../proto/generated/ipledger.ts';

const rows = `
  SELECT e.seq, e.at, s.name AS subnet, p.namespace, p.name AS pod, n.name AS node, o.uid, o.kind, o.name AS owner, o.namespace AS home
  FROM events e
  LEFT JOIN subnets s ON s.id = e.subnet LEFT JOIN pods p ON p.id = e.pod
  LEFT JOIN nodes n ON n.id = e.node LEFT JOIN owners o ON o.id = e.owner
  WHERE e.seq BETWEEN ? AND ? ORDER BY e.seq`;

const allocation = `
  SELECT 1 FROM allocations
  WHERE address = (SELECT id FROM addresses WHERE subnet = ? AND address = ?) AND seq = ?`;

/** One text for each row of consecutive events, and for each address that they allocated. */
export function foundBy(database: DatabaseSync, events: readonly Event[]): string[] {
  const [first = 0, last = 0] = [events[0]?.seq, events.at(-1)?.seq];
  const found = database
    .prepare(rows)
    .all(first, last)
    .map((row) => Object.values(row).join(' '));
  const findAllocation = database.prepare(allocation);
  for (const { seq, subnet, addressAllocated } of events)
    for (const { address } of addressAllocated?.addresses ?? [])
      if (findAllocation.get(subnet, address, seq)) found.push(`${subnet} ${address} ${seq}`);
  return found;
}
