/** Opens, creates and deletes the read model's SQLite file. All of its data is also in the log. */
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { errorMessage } from '../../../lib/errors.ts';
import type { Position } from '../../../proto/generated/ipledger.ts';
import { stateBits } from './address-entry.ts';

/** The position before the first event. */
export const emptyPosition: Position = { epoch: 0, seq: 0, hash: '' };

/**
 * Opens or creates the file. Deletes an incomplete file, or a file of another version, because the
 * log contains all of its data.
 * @throws Error with advice if the file cannot be opened, contains another database, or is in use
 * by another process
 */
export function openDatabase(file: string): DatabaseSync {
  try {
    const found = connect(file);
    if (numberOf(found, 'PRAGMA user_version') === schemaVersion) {
      found.exec(laterIndex);
      return found;
    }
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
  database.exec(schema + laterIndex);
  const insert = database.prepare('INSERT INTO about (name, value) VALUES (?, ?)');
  insert.run('position', JSON.stringify(emptyPosition));
  database.exec(`PRAGMA user_version = ${schemaVersion}`);
  database.exec('COMMIT');
  return database;
}

/** Commits do not wait for the disk: events that a power cut loses are read from the log again. */
function connect(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    // 32 MiB between checkpoints: each writes a changed page once, and index pages change often.
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

/** Returns advice for an error message of SQLite. */
function adviceOn(reason: string): string {
  if (reason.includes('locked')) return ': another process uses it. Stop that process, or choose another file';
  if (/not a database|malformed/.test(reason)) return ': delete it. The read model rebuilds it from the log';
  return '';
}

/** Deletes the file, and the files that SQLite keeps beside it. */
export function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
}

/** A file of another version is rebuilt. */
const schemaVersion = 7;

/**
 * The tables are designed for ten million events. Events are packed in pages, and each has a row of
 * small numbers, its keys. Each index entry of SQLite ends with the row key, which is the event
 * number, so an index returns its events in order.
 */
const schema = `
  CREATE TABLE about (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

  CREATE TABLE subnets (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE nodes (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE pods (id INTEGER PRIMARY KEY, namespace TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (namespace, name));
  CREATE TABLE owners (
    id INTEGER PRIMARY KEY, uid TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, namespace TEXT NOT NULL,
    UNIQUE (uid, name, kind, namespace)
  );
  CREATE INDEX owners_by_name ON owners (name);

  CREATE TABLE events (
    seq INTEGER PRIMARY KEY, at INTEGER NOT NULL,
    subnet INTEGER, pod INTEGER, node INTEGER, owner INTEGER
  );
  CREATE INDEX events_by_subnet ON events (subnet) WHERE subnet IS NOT NULL;
  CREATE INDEX events_by_pod ON events (pod) WHERE pod IS NOT NULL;
  CREATE INDEX events_by_node ON events (node) WHERE node IS NOT NULL;
  CREATE INDEX events_by_owner ON events (owner) WHERE owner IS NOT NULL;

  -- The events that allocated an address. The events between them follow from the links of the log.
  CREATE TABLE addresses (id INTEGER PRIMARY KEY, subnet TEXT NOT NULL, address TEXT NOT NULL, UNIQUE (subnet, address));
  CREATE TABLE allocations (address INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (address, seq)) WITHOUT ROWID;

  -- The key is the first event of the page. Pages are dense. The hash is of the hash of the page before and the packed bytes.
  CREATE TABLE pages (first INTEGER PRIMARY KEY, packed BLOB NOT NULL, hash BLOB NOT NULL);

  -- Current allocations and bindings: later events refer to them.
  CREATE TABLE grants (seq INTEGER PRIMARY KEY, owner INTEGER NOT NULL);
  CREATE TABLE bindings (
    subnet TEXT NOT NULL, container TEXT NOT NULL, interface TEXT NOT NULL, node INTEGER, owner INTEGER,
    PRIMARY KEY (subnet, container, interface)
  ) WITHOUT ROWID;

  -- Address maps. "ip" is a number for IPv4, 32 hexadecimal digits for IPv6. "state" has the bits of address-entry.ts.
  CREATE TABLE claims (
    subnet INTEGER NOT NULL, ip NOT NULL, state INTEGER NOT NULL, last INTEGER NOT NULL, bindings TEXT,
    PRIMARY KEY (subnet, ip)
  ) WITHOUT ROWID;
  CREATE TABLE changes (
    subnet INTEGER NOT NULL, seq INTEGER NOT NULL, ip NOT NULL, state INTEGER NOT NULL, PRIMARY KEY (subnet, seq, ip)
  ) WITHOUT ROWID;
  CREATE INDEX changes_by_address ON changes (subnet, ip, seq);
  -- All claims of a Subnet after an event, packed. A map is the nearest earlier one with the changes since.
  CREATE TABLE keyframes (
    subnet INTEGER NOT NULL, seq INTEGER NOT NULL, claims INTEGER NOT NULL, packed BLOB NOT NULL, PRIMARY KEY (subnet, seq)
  ) WITHOUT ROWID;
  -- The spec as JSON; NULL after the Subnet was retired.
  CREATE TABLE specs (subnet INTEGER NOT NULL, seq INTEGER NOT NULL, spec TEXT, PRIMARY KEY (subnet, seq)) WITHOUT ROWID;
  CREATE TABLE usage (
    subnet INTEGER NOT NULL, family INTEGER NOT NULL, hour INTEGER NOT NULL, in_use INTEGER NOT NULL,
    PRIMARY KEY (subnet, family, hour)
  ) WITHOUT ROWID;

  -- The events that name a MAC or a container, by its number in name-marks.ts.
  CREATE TABLE marks (mark INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (mark, seq)) WITHOUT ROWID;
  CREATE INDEX pods_by_name ON pods (name);
`;

/** An index that files of this version may lack. Few addresses are quarantined. */
const laterIndex = `CREATE INDEX IF NOT EXISTS claims_quarantined ON claims (subnet, ip) WHERE state & ${stateBits.quarantined};`;
