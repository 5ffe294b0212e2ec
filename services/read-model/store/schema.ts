/**
 * The tables of the read model. The log contains all of their data. They are sized for ten million events: the events are packed in
 * pages, and a row of small numbers has the keys of each event. SQLite stores the row key (the event number) in each index entry, so
 * an index returns its events in order.
 */

/** A file with another version is rebuilt. */
export const schemaVersion = 6;

export const schema = `
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
`;
