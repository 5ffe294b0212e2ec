/** The file in which the read model is kept: made, opened, and thrown away. */
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Position } from '../../../proto/ipledger.ts';
import { schema, schemaVersion } from './schema.ts';

/** Before the first event. */
export const nowhere: Position = { epoch: 0, seq: 0, hash: '' };

/**
 * Opens it, or makes it. One that another version made, or that was never finished, is thrown away: all of it stands in the log.
 * @throws Error that says what to do, when it cannot be opened, is something else's, or another process has it.
 */
export function openFile(file: string): DatabaseSync {
  try {
    const found = connect(file);
    if (numberOf(found, 'PRAGMA user_version') === schemaVersion) return found;
    const isOurs = numberOf(found, tablesCount) === 0 || numberOf(found, `${tablesCount} AND name = 'about'`) > 0;
    found.close();
    if (!isOurs) throw new Error('it is the database of something else: name another file');
    remove(file);
    return make(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the read model's file ${file} cannot be used: ${reason}${adviceOn(reason)}`, { cause: error });
  }
}

function make(file: string): DatabaseSync {
  const made = connect(file);
  made.exec('BEGIN IMMEDIATE');
  made.exec(schema);
  const say = made.prepare('INSERT INTO about (name, value) VALUES (?, ?)');
  say.run('position', JSON.stringify(nowhere));
  made.exec(`PRAGMA user_version = ${schemaVersion}`);
  made.exec('COMMIT');
  return made;
}

/**
 * After a power cut the last transactions may be missing, never half of one: they are read from the log again, so a commit need not
 * wait for the disk.
 */
function connect(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    database.exec('PRAGMA cache_size = -65536');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

const tablesCount = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'";

/** What a query for one number gives. */
const numberOf = (database: DatabaseSync, query: string): number =>
  Number(Object.values(database.prepare(query).get() ?? {})[0]);

/** On what SQLite says. */
function adviceOn(reason: string): string {
  if (reason.includes('locked')) return ': it belongs to one process, and another has it';
  if (/not a database|malformed/.test(reason)) return ': delete it, and it is made again from the log';
  return '';
}

/** The file with what SQLite keeps beside it. */
export function remove(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}
