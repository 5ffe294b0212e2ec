/**
 * The tables. All of it follows from the log: whoever deletes the file gets the same again. Sized for ten million events: the events
 * themselves stand packed in pages, and a row of small numbers says whose each is. An index over one of these lists its events in
 * order, for free, since SQLite keeps the row's key (the event's number) behind each entry.
 */

/** Another one makes the file anew. */
export const schemaVersion = 3;

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

  -- By the number of their first event; none is missing between that and the next page's.
  CREATE TABLE pages (first INTEGER PRIMARY KEY, packed BLOB NOT NULL);

  -- Of allocations and bindings in force: what later events about them do not say themselves.
  CREATE TABLE grants (seq INTEGER PRIMARY KEY, owner INTEGER NOT NULL);
  CREATE TABLE bindings (
    subnet TEXT NOT NULL, container TEXT NOT NULL, interface TEXT NOT NULL, node INTEGER, owner INTEGER,
    PRIMARY KEY (subnet, container, interface)
  ) WITHOUT ROWID;
`;
