/** Finds objects by name, or by the beginning of a name. */
import type { DatabaseSync } from 'node:sqlite';
import type { MessageInput } from '../../../proto/codec.ts';
import type { Event, SearchHit } from '../../../proto/generated/ipledger.ts';
import { canonicalAddress } from '../../../ledger/domain/addresses/address.ts';
import { addressKey } from './address-key.ts';
import { addressChangeOf } from './address-entry.ts';
import { containerMark, macMark } from './name-marks.ts';

export type Hit = MessageInput<SearchHit> & { readonly kind: string };

const maxHits = 50;
const maxOfKind = 15;
/** The newest owners of a name that are read: a re-created one has another uid. */
const maxOwnersOfName = 200;

/** What begins with the text ?1. */
const startsWith = 'name >= ?1 AND name < ?1 || char(1114111)';

/** Creates the search of a database. `eventOf` reads one event. */
export function createNameSearch(database: DatabaseSync, eventOf: (seq: number) => Event): (text: string) => Hit[] {
  const find = (columns: string, table: string) =>
    database.prepare(`SELECT ${columns} FROM ${table} WHERE ${startsWith} ORDER BY name LIMIT ${maxOfKind}`);
  const subnets = find('name', 'subnets');
  const pods = find('id, namespace, name', 'pods');
  const podOfNamespace = database.prepare(
    `SELECT id, namespace, name FROM pods WHERE namespace = ?2 AND ${startsWith} ORDER BY name LIMIT ${maxOfKind}`,
  );
  const nodes = find('name', 'nodes');
  const newestOfPod = database.prepare('SELECT max(seq) AS seq FROM events WHERE pod = ?');
  const withAddress = database.prepare(
    `SELECT s.name, (SELECT max(seq) FROM changes c WHERE c.subnet = s.id AND c.ip = ?1) AS seq FROM subnets s
     WHERE seq IS NOT NULL ORDER BY seq DESC LIMIT ${maxOfKind}`,
  );
  const marked = database.prepare(`SELECT seq FROM marks WHERE mark = ? ORDER BY seq DESC LIMIT ${maxOfKind}`);

  const findAddress = (text: string): Hit[] =>
    withAddress
      .all(addressKey(text))
      .map((row) => ({ kind: 'address', subnet: String(row['name']), address: text, seq: Number(row['seq']) }));
  const findMarked = (kind: 'mac' | 'container', text: string, mark: number | undefined): Hit[] => {
    if (mark === undefined) return [];
    return marked.all(mark).flatMap(({ seq }) => {
      const event = eventOf(Number(seq));
      const container = event.addressBound?.containerId ?? '';
      if (kind === 'container' && !container.startsWith(text.toLowerCase())) return [];
      const { attachment } = event.addressBound ?? event.addressAllocated ?? event.addressTransferred ?? {};
      const [address = ''] = addressChangeOf(event)?.addresses ?? [];
      const of = { namespace: attachment?.namespace ?? '', subnet: event.subnet, address };
      return [{ kind, name: kind === 'mac' ? text.toLowerCase() : container, ...of, seq: event.seq }];
    });
  };
  const podHits = (text: string): Hit[] => {
    const [namespace = '', name] = text.split('/', 2);
    const found = name === undefined ? pods.all(text) : podOfNamespace.all(name, namespace);
    return found.map((row) => ({
      kind: 'pod',
      namespace: String(row['namespace']),
      name: String(row['name']),
      seq: Number(newestOfPod.get(Number(row['id']))?.['seq'] ?? 0),
    }));
  };

  const ownerHits = createOwnerSearch(database);

  return (text) => {
    const address = canonicalAddress(text);
    const hits = [
      ...(address === undefined ? [] : findAddress(address)),
      ...findMarked('mac', text, macMark(text)),
      ...findMarked('container', text, containerMark(text)),
      ...subnets.all(text).map(({ name }) => ({ kind: 'subnet', subnet: String(name), name: String(name) })),
      ...podHits(text),
      ...ownerHits(text),
      ...nodes.all(text).map(({ name }) => ({ kind: 'node', name: String(name) })),
    ];
    return hits.slice(0, maxHits);
  };
}

/** Reads name by name: one name may have many owners, each with its uid. */
function createOwnerSearch(database: DatabaseSync): (text: string) => Hit[] {
  const ownerNames = database.prepare(
    `WITH RECURSIVE found (name) AS (
       SELECT min(name) FROM owners WHERE ${startsWith} UNION ALL
       SELECT (SELECT min(o.name) FROM owners o WHERE o.name > found.name AND o.name < ?1 || char(1114111))
       FROM found WHERE found.name IS NOT NULL
     ) SELECT name FROM found WHERE name IS NOT NULL LIMIT ${maxOfKind}`,
  );
  const newestOwners = database.prepare(
    `SELECT DISTINCT namespace, kind, ?1 AS name
     FROM (SELECT namespace, kind FROM owners WHERE name = ?1 ORDER BY id DESC LIMIT ${maxOwnersOfName})`,
  );
  return (text) =>
    ownerNames
      .all(text)
      .flatMap(({ name }) => newestOwners.all(String(name)))
      .slice(0, maxOfKind)
      .map((row) => ({
        kind: 'owner',
        namespace: String(row['namespace']),
        name: String(row['name']),
        ownerKind: String(row['kind']),
      }));
}
