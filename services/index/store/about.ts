/** What an event is about, also where it does not say so itself: whose Pod it was, and on which node a binding ended. */
import type { DatabaseSync } from 'node:sqlite';
import type { Event, Owner } from '../../../proto/ipledger.ts';

/** Keys of rows; null for what it is not about. */
export interface About {
  readonly subnet: number | null;
  readonly pod: number | null;
  readonly node: number | null;
  readonly owner: number | null;
}

/**
 * Tells it of each event, in the order of the log. Inside the transaction that keeps the event: what is remembered of allocations
 * and bindings in force goes with it.
 */
export function aboutSource(database: DatabaseSync): (event: Event) => About {
  const subnets = rowSource(database, 'subnets', ['name']);
  const nodes = rowSource(database, 'nodes', ['name']);
  const pods = rowSource(database, 'pods', ['namespace', 'name']);
  const owners = rowSource(database, 'owners', ['uid', 'name', 'kind', 'namespace']);
  const grants = grantsOf(database);
  const bindings = bindingsOf(database);
  const ownerOf = (owner: Owner | undefined, namespace: string): number | null =>
    owner ? owners(owner.uid, owner.name, owner.kind, namespace) : null;

  /** The event's owner and node; what it gives, binds or ends is remembered or forgotten. */
  function follow(event: Event): Pick<About, 'node' | 'owner'> {
    const { addressAllocated, addressTransferred, addressBound, addressReleased, addressUnbound } = event;
    const given = addressAllocated ?? addressTransferred;
    if (given) {
      if (addressTransferred) grants.forget(addressTransferred.alloc);
      const owner = ownerOf(given.owner, given.attachment?.namespace ?? '');
      if (owner !== null) grants.remember(event.seq, owner);
      return { owner, node: given.node === '' ? null : nodes(given.node) };
    }
    if (addressBound) {
      const found = { owner: grants.of(addressBound.alloc), node: nodes(addressBound.node) };
      bindings.remember(event.subnet, addressBound, found);
      return found;
    }
    if (addressReleased) {
      const owner = grants.of(addressReleased.alloc);
      grants.forget(addressReleased.alloc);
      return { owner, node: null };
    }
    return addressUnbound ? bindings.end(event.subnet, addressUnbound) : { owner: null, node: null };
  }

  return (event) => {
    const attachment = attachmentOf(event);
    return {
      subnet: event.subnet === '' ? null : subnets(event.subnet),
      pod: attachment ? pods(attachment.namespace, attachment.pod) : null,
      ...follow(event),
    };
  };
}

function attachmentOf(event: Event) {
  const { addressAllocated, allocationRefused, addressBound, addressUnbound, addressTransferred, addressReleased } =
    event;
  const one =
    addressAllocated ?? allocationRefused ?? addressBound ?? addressUnbound ?? addressTransferred ?? addressReleased;
  return one?.attachment;
}

/** Gives the key of the row that says this, which is made if it is not there. */
function rowSource(database: DatabaseSync, table: string, columns: readonly string[]): (...values: string[]) => number {
  const same = columns.map((column) => `${column} = ?`).join(' AND ');
  const find = database.prepare(`SELECT id FROM ${table} WHERE ${same}`);
  const add = database.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  return (...values) => {
    const found = find.get(...values);
    return Number(found ? found['id'] : add.run(...values).lastInsertRowid);
  };
}

function grantsOf(database: DatabaseSync) {
  const add = database.prepare('INSERT INTO grants (seq, owner) VALUES (?, ?)');
  const find = database.prepare('SELECT owner FROM grants WHERE seq = ?');
  const remove = database.prepare('DELETE FROM grants WHERE seq = ?');
  return {
    remember: (seq: number, owner: number): void => void add.run(seq, owner),
    of: (seq: number): number | null => (find.get(seq)?.['owner'] as number | undefined) ?? null,
    forget: (seq: number): void => void remove.run(seq),
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
    remember: (
      subnet: string,
      { containerId, interface: name }: Sandbox,
      { node, owner }: Pick<About, 'node' | 'owner'>,
    ): void => void add.run(subnet, containerId, name, node, owner),
    end: (subnet: string, { containerId, interface: name }: Sandbox): Pick<About, 'node' | 'owner'> => {
      const found = remove.get(subnet, containerId, name) as Pick<About, 'node' | 'owner'> | undefined;
      return { node: found?.node ?? null, owner: found?.owner ?? null };
    },
  };
}
