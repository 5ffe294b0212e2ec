/** Reads the address map of a Subnet after an event, from the last keyframe and later changes. */
import type { DatabaseSync } from 'node:sqlite';
import type { SubnetSpec } from '../../../proto/generated/ipledger.ts';
import { stateBits } from './address-entry.ts';
import type { AddressKey } from './address-key.ts';
import { type ClaimColumns, type ClaimRow, unpackKeyframe } from './keyframe.ts';

export interface MapQuery {
  /**
   * Visits the claims of a Subnet after event `seq`, by address. A dropped claim has the state 0.
   */
  readonly claims: (subnet: number, seq: number, visit: VisitClaim) => void;
  /** The spec of a Subnet after event `seq`; undefined if it was not configured then. */
  readonly spec: (subnet: number, seq: number) => SubnetSpec | undefined;
  /** The first event that configured the Subnet. */
  readonly firstSpecSeq: (subnet: number) => number | undefined;
  /** The events of a Subnet, or of one of its addresses, before and after event `seq`. */
  readonly neighbours: (subnet: number, ip: AddressKey | undefined, seq: number) => Neighbours;
  /** The number of addresses in use by hour, from the hour in effect at `since`. */
  readonly usage: (subnet: number, since: number) => readonly UsageRow[];
  /** The first quarantined addresses, of one Subnet or ('') of all. */
  readonly quarantined: (subnet: string, limit: number) => readonly QuarantinedRow[];
}

/** Receives an address, the bits of its state, and the last event that changed it. */
export type VisitClaim = (...row: ClaimRow) => void;

export interface Neighbours {
  readonly previous: number | undefined;
  readonly next: number | undefined;
}

export interface UsageRow {
  readonly family: number;
  readonly hour: number;
  readonly in_use: number;
}

export interface QuarantinedRow {
  readonly subnet: string;
  readonly ip: AddressKey;
  readonly seq: number;
}

export function createMapQuery(database: DatabaseSync): MapQuery {
  const keyframeBefore = keyframeReader(database);
  const changes = database.prepare(
    'SELECT ip, state, seq FROM changes WHERE subnet = ? AND seq > ? AND seq <= ? ORDER BY seq',
  );
  changes.setReturnArrays(true);
  const spec = database.prepare('SELECT spec FROM specs WHERE subnet = ? AND seq <= ? ORDER BY seq DESC LIMIT 1');
  const firstSpec = database.prepare('SELECT min(seq) AS seq FROM specs WHERE subnet = ?');
  const usage = database.prepare(
    `SELECT family, hour, in_use FROM usage AS u WHERE subnet = ?1 AND hour >= coalesce(
       (SELECT max(hour) FROM usage WHERE subnet = ?1 AND family = u.family AND hour <= ?2), ?2)
     ORDER BY family, hour`,
  );
  const quarantined = database.prepare(
    `SELECT s.name AS subnet, c.ip, c.last AS seq FROM claims c JOIN subnets s ON s.id = c.subnet
     WHERE c.state & ${stateBits.quarantined} AND ?1 IN ('', s.name) LIMIT ?2`,
  );
  const edge = (table: string, where: string, side: 'previous' | 'next') =>
    database.prepare(
      side === 'previous'
        ? `SELECT max(seq) AS seq FROM ${table} WHERE ${where} AND seq < ?`
        : `SELECT min(seq) AS seq FROM ${table} WHERE ${where} AND seq > ?`,
    );
  const ofSubnet = { previous: edge('events', 'subnet = ?', 'previous'), next: edge('events', 'subnet = ?', 'next') };
  const byAddress = 'subnet = ? AND ip = ?';
  const ofAddress = { previous: edge('changes', byAddress, 'previous'), next: edge('changes', byAddress, 'next') };
  const numberIn = (row: Record<string, unknown> | undefined): number | undefined =>
    typeof row?.['seq'] === 'number' ? row['seq'] : undefined;

  return {
    claims: (subnet, seq, visit) => {
      const keyframe = keyframeBefore(subnet, seq);
      visitClaims(keyframe, changes.all(subnet, keyframe.seq, seq) as unknown as ClaimRow[], visit);
    },
    spec: (subnet, seq) => {
      const found = spec.get(subnet, seq)?.['spec'];
      return typeof found === 'string' ? (JSON.parse(found) as SubnetSpec) : undefined;
    },
    firstSpecSeq: (subnet) => numberIn(firstSpec.get(subnet)),
    neighbours: (subnet, ip, seq) => {
      const key = ip === undefined ? [subnet] : [subnet, ip];
      const { previous, next } = ip === undefined ? ofSubnet : ofAddress;
      return { previous: numberIn(previous.get(...key, seq)), next: numberIn(next.get(...key, seq)) };
    },
    usage: (subnet, since) => usage.all(subnet, since) as unknown as UsageRow[],
    quarantined: (subnet, limit) => quarantined.all(subnet, limit) as unknown as QuarantinedRow[],
  };
}

interface Keyframe extends ClaimColumns {
  readonly subnet: number;
  readonly seq: number;
}

/** Reads the last keyframe at or before an event. Keeps one: a slider moves in small steps. */
function keyframeReader(database: DatabaseSync): (subnet: number, seq: number) => Keyframe {
  const find = database.prepare('SELECT max(seq) AS seq FROM keyframes WHERE subnet = ? AND seq <= ?');
  const read = database.prepare('SELECT packed FROM keyframes WHERE subnet = ? AND seq = ?');
  let kept: Keyframe | undefined;
  return (subnet, before) => {
    const seq = Number(find.get(subnet, before)?.['seq'] ?? 0);
    if (seq === 0) return { subnet, seq, ips: [], states: [], lasts: [] };
    if (kept?.subnet !== subnet || kept.seq !== seq)
      kept = { subnet, seq, ...unpackKeyframe(read.get(subnet, seq)?.['packed'] as Uint8Array) };
    return kept;
  };
}

/** Visits the claims of a keyframe, with later rows in their place. */
function visitClaims({ ips, states, lasts }: ClaimColumns, changed: readonly ClaimRow[], visit: VisitClaim): void {
  const latest = new Map<AddressKey, ClaimRow>();
  for (const row of changed) latest.set(row[0], row);
  let index = 0;
  const visitUntil = (end: AddressKey | undefined): void => {
    for (let ip = ips[index]; ip !== undefined; ip = ips[++index]) {
      if (end !== undefined && compareKeys(ip, end) >= 0) return;
      visit(ip, states[index] ?? 0, lasts[index] ?? 0);
    }
  };
  for (const row of [...latest.values()].sort(([one], [other]) => compareKeys(one, other))) {
    visitUntil(row[0]);
    if (ips[index] === row[0]) index++;
    visit(...row);
  }
  visitUntil(undefined);
}

/** Compares keys by their order in the index: numbers sort before texts. */
function compareKeys(one: AddressKey, other: AddressKey): number {
  if (typeof one === typeof other) return one < other ? -1 : Number(one > other);
  return typeof one === 'number' ? -1 : 1;
}
