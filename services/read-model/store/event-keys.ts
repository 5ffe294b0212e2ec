/** Resolves the Subnet, Pod, node and owner of an event, directly or through its allocation. */
import type { DatabaseSync } from 'node:sqlite';
import { applyEventTable, type EventTable } from '../../../proto/event-table.ts';
import type {
  AddressAllocated,
  AddressTransferred,
  Attachment,
  Event,
  Owner,
} from '../../../proto/generated/ipledger.ts';

/** The row keys of an event; null for none. */
export interface EventKeys {
  readonly subnet: number | null;
  readonly pod: number | null;
  readonly node: number | null;
  readonly owner: number | null;
}

export interface EventKeyResolver {
  readonly keysOf: (event: Event) => EventKeys;
  /** Call it when a transaction is rolled back: it forgets the inserted rows. */
  readonly forget: () => void;
}

/**
 * Returns the resolver. Call it for each event in the order of the log, in the transaction that
 * stores the event, because it also updates the rows of current allocations and bindings.
 */
export function createEventKeyResolver(database: DatabaseSync): EventKeyResolver {
  const sources = {
    subnets: rowSource(database, 'subnets', ['name']),
    nodes: rowSource(database, 'nodes', ['name']),
    pods: rowSource(database, 'pods', ['namespace', 'name']),
    owners: rowSource(database, 'owners', ['uid', 'name', 'kind', 'namespace']),
    addresses: rowSource(database, 'addresses', ['subnet', 'address']),
  };
  const [subnets, nodes, pods] = [sources.subnets.keyOf, sources.nodes.keyOf, sources.pods.keyOf];
  const [owners, addresses] = [sources.owners.keyOf, sources.addresses.keyOf];
  const grants = grantsOf(database);
  const addAllocation = database.prepare('INSERT INTO allocations (address, seq) VALUES (?, ?)');
  const bindings = bindingsOf(database);
  const ownerOf = (owner: Owner | undefined, namespace: string): number | null =>
    owner ? owners(owner.uid, owner.name, owner.kind, namespace) : null;

  function grantSubject(grant: AddressAllocated | AddressTransferred, { seq }: Event): Subject {
    const owner = ownerOf(grant.owner, grant.attachment?.namespace ?? '');
    if (owner !== null) grants.add(seq, owner);
    return { attachment: grant.attachment, owner, node: grant.node === '' ? null : nodes(grant.node) };
  }

  /** The subject of each event type. An entry also writes rows that later events refer to. */
  const subjects: EventTable<Subject> = {
    addressAllocated: (allocated, event) => {
      for (const { address } of allocated.addresses) addAllocation.run(addresses(event.subnet, address), event.seq);
      return grantSubject(allocated, event);
    },
    addressTransferred: (transferred, event) => {
      grants.remove(transferred.alloc);
      return grantSubject(transferred, event);
    },
    allocationRefused: ({ attachment }) => ({ ...noSubject(), attachment }),
    addressBound: (bound, { subnet }) => {
      const found = { owner: grants.of(bound.alloc), node: nodes(bound.node) };
      bindings.add(subnet, bound, found);
      return { attachment: bound.attachment, ...found };
    },
    addressUnbound: (unbound, { subnet }) => ({ attachment: unbound.attachment, ...bindings.end(subnet, unbound) }),
    addressReleased: ({ attachment, alloc }) => {
      const owner = grants.of(alloc);
      grants.remove(alloc);
      return { attachment, owner, node: null };
    },
    ledgerCreated: noSubject,
    subnetConfigured: noSubject,
    subnetRetired: noSubject,
    poolConfigured: noSubject,
    poolRetired: noSubject,
    addressReserved: noSubject,
    reservationCancelled: noSubject,
    addressQuarantined: noSubject,
    quarantineLifted: noSubject,
    claimsDropped: noSubject,
    segmentSealed: noSubject,
    historyDropped: noSubject,
    ledgerRestored: noSubject,
    keyRotated: noSubject,
  };

  const keysOf = (event: Event): EventKeys => {
    const { attachment, node, owner } = applyEventTable(subjects, event) ?? noSubject();
    return {
      subnet: event.subnet === '' ? null : subnets(event.subnet),
      pod: attachment ? pods(attachment.namespace, attachment.pod) : null,
      node,
      owner,
    };
  };
  return { keysOf, forget: () => Object.values(sources).forEach(({ forget }) => forget()) };
}

interface Subject extends Pick<EventKeys, 'node' | 'owner'> {
  readonly attachment: Attachment | undefined;
}

const noSubject = (): Subject => ({ attachment: undefined, owner: null, node: null });

/** The row keys in memory. Most events are about Pods, nodes and addresses of recent events. */
const maxKnownRows = 20_000;

/**
 * Returns the key of the row with these values, and inserts the row if it is missing. Rows are
 * never deleted. After a rollback, the inserted rows must be forgotten: see `forget`.
 */
function rowSource(database: DatabaseSync, table: string, columns: readonly string[]): RowSource {
  const same = columns.map((column) => `${column} = ?`).join(' AND ');
  const find = database.prepare(`SELECT id FROM ${table} WHERE ${same}`);
  const add = database.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  const known = new Map<string, number>();
  const keyOf = (...values: string[]): number => {
    const name = values.join('\0');
    const id = known.get(name);
    if (id !== undefined) return id;
    const found = find.get(...values);
    const key = Number(found ? found['id'] : add.run(...values).lastInsertRowid);
    if (known.size >= maxKnownRows) known.clear();
    known.set(name, key);
    return key;
  };
  return { keyOf, forget: () => known.clear() };
}

interface RowSource {
  readonly keyOf: (...values: string[]) => number;
  readonly forget: () => void;
}

function grantsOf(database: DatabaseSync) {
  const add = database.prepare('INSERT INTO grants (seq, owner) VALUES (?, ?)');
  const find = database.prepare('SELECT owner FROM grants WHERE seq = ?');
  const remove = database.prepare('DELETE FROM grants WHERE seq = ?');
  return {
    add: (seq: number, owner: number): void => void add.run(seq, owner),
    of: (seq: number): number | null => (find.get(seq)?.['owner'] as number | undefined) ?? null,
    remove: (seq: number): void => void remove.run(seq),
  };
}

interface Sandbox {
  readonly containerId: string;
  readonly interface: string;
}

function bindingsOf(database: DatabaseSync) {
  const add = database.prepare(
    'INSERT OR REPLACE INTO bindings (subnet, container, interface, node, owner) VALUES (?, ?, ?, ?, ?)',
  );
  const remove = database.prepare(
    'DELETE FROM bindings WHERE subnet = ? AND container = ? AND interface = ? RETURNING node, owner',
  );
  return {
    add: (
      subnet: string,
      { containerId, interface: name }: Sandbox,
      { node, owner }: Pick<EventKeys, 'node' | 'owner'>,
    ): void => void add.run(subnet, containerId, name, node, owner),
    end: (subnet: string, { containerId, interface: name }: Sandbox): Pick<EventKeys, 'node' | 'owner'> => {
      const found = remove.get(subnet, containerId, name) as Pick<EventKeys, 'node' | 'owner'> | undefined;
      return { node: found?.node ?? null, owner: found?.owner ?? null };
    },
  };
}
