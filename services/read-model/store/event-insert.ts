/** Inserts the rows by which events are found. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Event } from '../../../proto/generated/ipledger.ts';
import { createClaimRows } from './claim-rows.ts';
import { createEventKeyResolver } from './event-keys.ts';
import { marksOf } from './name-marks.ts';

export interface EventInsert {
  readonly insert: (events: readonly Event[]) => void;
  /** Call it when a transaction is rolled back. */
  readonly forget: () => void;
}

/** The rows of one INSERT: calling a statement takes longer than inserting a row. */
const rowsPerInsert = 32;

export function createInsert(database: DatabaseSync): EventInsert {
  const { keysOf, forget } = createEventKeyResolver(database);
  const claims = createClaimRows(database);
  const addMark = database.prepare('INSERT OR IGNORE INTO marks (mark, seq) VALUES (?, ?)');
  const insertRows = (rows: number): StatementSync =>
    database.prepare(
      `INSERT INTO events (seq, at, subnet, pod, node, owner) VALUES ${Array(rows).fill('(?, ?, ?, ?, ?, ?)').join(', ')}`,
    );
  const [insertMany, insertOne] = [insertRows(rowsPerInsert), insertRows(1)];
  const valuesOf = (event: Event): (number | null)[] => {
    const { subnet, pod, node, owner } = keysOf(event);
    if (subnet !== null) claims.apply(event, subnet);
    for (const mark of marksOf(event)) addMark.run(mark, event.seq);
    return [event.seq, Date.parse(event.at), subnet, pod, node, owner];
  };
  return {
    insert: (events) => {
      const rows = events.map(valuesOf);
      const single = rows.length % rowsPerInsert;
      for (let first = 0; first < rows.length - single; first += rowsPerInsert)
        insertMany.run(...rows.slice(first, first + rowsPerInsert).flat());
      for (const row of rows.slice(rows.length - single)) insertOne.run(...row);
      claims.finish(events.at(-1)?.seq ?? 0);
    },
    forget: () => {
      forget();
      claims.forget();
    },
  };
}
