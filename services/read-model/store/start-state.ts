/**
 * The state with which a store begins, if the events before its first one were dropped. Without it
 * the maps would lack the addresses that were allocated before.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { AddressRecord, Subnet } from '../../../proto/generated/ipledger.ts';
import { type Container, isInUse, stateOf } from './address-entry.ts';
import { addressKey, familyOfKey } from './address-key.ts';
import { type ClaimRow, packKeyframe } from './keyframe.ts';
import { hourMs } from './usage-rows.ts';

export interface StartState {
  /** The last event that it includes, and its time. */
  readonly seq: number;
  readonly at: string;
  readonly subnets: readonly Subnet[];
  /** Those of all Subnets, by address. */
  readonly records: readonly AddressRecord[];
}

/** Writes the state into an empty store, in one transaction. A second call has the same result. */
export function writeStartState(database: DatabaseSync, { seq, at, subnets, records }: StartState): void {
  const addSubnet = database.prepare('INSERT OR IGNORE INTO subnets (name) VALUES (?)');
  const findSubnet = database.prepare('SELECT id FROM subnets WHERE name = ?');
  const addSpec = database.prepare('INSERT OR REPLACE INTO specs (subnet, seq, spec) VALUES (?, ?, ?)');
  const addClaim = database.prepare(
    'INSERT OR REPLACE INTO claims (subnet, ip, state, last, bindings) VALUES (?, ?, ?, ?, ?)',
  );
  const addKeyframe = database.prepare(
    'INSERT OR REPLACE INTO keyframes (subnet, seq, claims, packed) VALUES (?, ?, ?, ?)',
  );
  const addUsage = database.prepare('INSERT OR REPLACE INTO usage (subnet, family, hour, in_use) VALUES (?, ?, ?, ?)');
  const claimsOf = database.prepare('SELECT ip, state, last FROM claims WHERE subnet = ? ORDER BY ip');
  claimsOf.setReturnArrays(true);
  const keyOf = (name: string): number => {
    addSubnet.run(name);
    return Number(findSubnet.get(name)?.['id']);
  };
  database.exec('BEGIN IMMEDIATE');
  try {
    // The history may begin later than at an attempt before
    for (const table of ['specs', 'claims', 'keyframes', 'usage']) database.exec(`DELETE FROM ${table}`);
    for (const { name, spec } of subnets) addSpec.run(keyOf(name), seq, JSON.stringify(spec));
    for (const record of records) {
      const containers = containersOf(record);
      const bindings = containers.length > 0 ? JSON.stringify(containers) : null;
      const state = stateOf({
        isAllocated: record.allocation !== undefined,
        isReserved: record.reservation !== undefined,
        isQuarantined: record.quarantine !== undefined,
        containers,
      });
      addClaim.run(keyOf(record.subnet), addressKey(record.address), state, record.lastSeq, bindings);
    }
    for (const name of new Set([...subnets.map((each) => each.name), ...records.map(({ subnet }) => subnet)])) {
      const rows = claimsOf.all(keyOf(name)) as unknown as ClaimRow[];
      addKeyframe.run(keyOf(name), seq, rows.length, packKeyframe(rows));
      for (const family of [4, 6]) {
        const inUse = rows.filter(([ip, state]) => familyOfKey(ip) === family && isInUse(state)).length;
        addUsage.run(keyOf(name), family, Math.floor(Date.parse(at) / hourMs), inUse);
      }
    }
    database.prepare("INSERT OR REPLACE INTO about (name, value) VALUES ('start', ?)").run(seq);
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

/**
 * A record does not name the Pod of a container: the Pod is that of the allocation, if the address
 * has an allocation.
 */
function containersOf({ bindings, allocation }: AddressRecord): Container[] {
  const { namespace, pod } = allocation?.attachment ?? { namespace: '', pod: '' };
  return bindings.map(({ containerId, interface: name, node, bootId }) => ({
    containerId,
    interface: name,
    node,
    bootId,
    pod: `${namespace}/${pod}`,
  }));
}
