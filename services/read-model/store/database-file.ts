/** The SQLite file of the read model: opens, creates and deletes it. */
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { errorMessage } from '../../../lib/errors.ts';
import type { Position } from '../../../proto/generated/ipledger.ts';
import { schema, schemaVersion } from './schema.ts';

/** The position before the first event. */
export const emptyPosition: Position = { epoch: 0, seq: 0, hash: '' };

/**
 * Opens or creates the file. A file of another version, or an incomplete one, is deleted: the log contains all of it.
 * @throws Error with advice when it cannot be opened, contains another database, or is in use by another process.
 */
export function openDatabase(file: string): DatabaseSync {
  try {
    const found = connect(file);
    if (numberOf(found, 'PRAGMA user_version') === schemaVersion) return found;
    const isOurs = numberOf(found, tablesCount) === 0 || numberOf(found, `${tablesCount} AND name = 'about'`) > 0;
    found.close();
    if (!isOurs) throw new Error('it contains another database: choose another file');
    removeDatabase(file);
    return create(file);
  } catch (error) {
    const reason = errorMessage(error);
    throw new Error(`the read model's file ${file} cannot be used: ${reason}${adviceOn(reason)}`, { cause: error });
  }
}

function create(file: string): DatabaseSync {
  const database = connect(file);
  database.exec('BEGIN IMMEDIATE');
  database.exec(schema);
  const insert = database.prepare('INSERT INTO about (name, value) VALUES (?, ?)');
  insert.run('position', JSON.stringify(emptyPosition));
  database.exec(`PRAGMA user_version = ${schemaVersion}`);
  database.exec('COMMIT');
  return database;
}

/** A commit does not wait for the disk: after a power cut the lost transactions are read from the log again. */
function connect(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    // 32 MiB: a checkpoint writes each changed page once, and a page of an index changes often.
    database.exec('PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8192');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

const tablesCount = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'";

/** Runs a query that returns one number. */
const numberOf = (database: DatabaseSync, query: string): number =>
  Number(Object.values(database.prepare(query).get() ?? {})[0]);

/** Advice for an error message of SQLite. */
function adviceOn(reason: string): string {
  if (reason.includes('locked')) return ': another process uses it. Stop that process, or choose another file';
  if (/not a database|malformed/.test(reason)) return ': delete it. The read model rebuilds it from the log';
  return '';
}

/** Deletes the file and SQLite's files beside it. */
export function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}
