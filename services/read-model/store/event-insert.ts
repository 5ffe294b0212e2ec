/** Inserts the rows of events: what they are found by. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Event } from '../../../proto/generated/ipledger.ts';
import { createEventKeyResolver } from './event-keys.ts';

export interface EventInsert {
  readonly insert: (events: readonly Event[]) => void;
  /** Call it when a transaction is rolled back. */
  readonly forget: () => void;
}

/** Rows of one statement: the call of a statement takes longer than the row. */
const rowsPerInsert = 32;

export function createInsert(database: DatabaseSync): EventInsert {
  const { keysOf, forget } = createEventKeyResolver(database);
  const insertRows = (rows: number): StatementSync =>
    database.prepare(
      `INSERT INTO events (seq, at, subnet, pod, node, owner) VALUES ${Array(rows).fill('(?, ?, ?, ?, ?, ?)').join(', ')}`,
    );
  const [insertMany, insertOne] = [insertRows(rowsPerInsert), insertRows(1)];
  const valuesOf = (event: Event): (number | null)[] => {
    const { subnet, pod, node, owner } = keysOf(event);
    return [event.seq, Date.parse(event.at), subnet, pod, node, owner];
  };
  return {
    insert: (events) => {
      const rows = events.map(valuesOf);
      const single = rows.length % rowsPerInsert;
      for (let first = 0; first < rows.length - single; first += rowsPerInsert)
        insertMany.run(...rows.slice(first, first + rowsPerInsert).flat());
      for (const row of rows.slice(rows.length - single)) insertOne.run(...row);
    },
    forget,
  };
}
