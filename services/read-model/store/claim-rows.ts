/** Writes the rows of address maps: current claims, changes, keyframes, and hourly usage. */
import type { DatabaseSync } from 'node:sqlite';
import type { Event } from '../../../proto/generated/ipledger.ts';
import {
  type AddressChange,
  addressChangeOf,
  type Container,
  entryOf,
  freshEntry,
  isInUse,
  stateOf,
} from './address-entry.ts';
import { type AddressKey, addressKey, familyOfKey } from './address-key.ts';
import { type ClaimRow, packKeyframe } from './keyframe.ts';
import { usageRows } from './usage-rows.ts';

export interface ClaimRows {
  /** Applies an event of a Subnet, in the order of the log. */
  readonly apply: (event: Event, subnet: number) => void;
  /** Call it before the transaction is committed. */
  readonly finish: (lastSeq: number) => void;
  /** Call it when a transaction is rolled back. */
  readonly forget: () => void;
}

/** The most changes before a keyframe: a map reads at most these, and one keyframe. */
const minChanges = 2_048;
/** The changes before a keyframe, for each claim. So keyframes cost a few rows for each change. */
const changesPerClaim = 1 / 4;

export function createClaimRows(database: DatabaseSync): ClaimRows {
  const find = database.prepare('SELECT state, bindings FROM claims WHERE subnet = ? AND ip = ?');
  const put = database.prepare(
    'INSERT OR REPLACE INTO claims (subnet, ip, state, last, bindings) VALUES (?, ?, ?, ?, ?)',
  );
  const drop = database.prepare('DELETE FROM claims WHERE subnet = ? AND ip = ?');
  const addChange = database.prepare('INSERT OR REPLACE INTO changes (subnet, seq, ip, state) VALUES (?, ?, ?, ?)');
  const addSpec = database.prepare('INSERT INTO specs (subnet, seq, spec) VALUES (?, ?, ?)');
  const usage = usageRows(database);
  const keyframes = keyframeRows(database);

  const applyTo = (subnet: number, ip: AddressKey, event: Event, { change }: AddressChange): void => {
    const row = find.get(subnet, ip) as { state: number; bindings: string | null } | undefined;
    const containers = row?.bindings ? (JSON.parse(row.bindings) as Container[]) : [];
    const next = change(row ? entryOf(row.state, containers) : freshEntry);
    const [before, after] = [row?.state ?? 0, next ? stateOf(next) : 0];
    if (next) {
      const bindings = next.containers.length > 0 ? JSON.stringify(next.containers) : null;
      put.run(subnet, ip, after, event.seq, bindings);
    } else drop.run(subnet, ip);
    addChange.run(subnet, event.seq, ip, after);
    keyframes.count(subnet);
    const growth = Number(isInUse(after)) - Number(isInUse(before));
    if (growth !== 0) usage.add({ subnet, family: familyOfKey(ip), at: Date.parse(event.at), growth });
  };
  return {
    apply: (event, subnet) => {
      if (event.subnetConfigured ?? event.subnetRetired)
        addSpec.run(subnet, event.seq, event.subnetConfigured ? JSON.stringify(event.subnetConfigured.spec) : null);
      const changed = addressChangeOf(event);
      for (const address of changed?.addresses ?? [])
        applyTo(subnet, addressKey(address), event, changed as AddressChange);
    },
    finish: (lastSeq) => {
      usage.write();
      keyframes.write(lastSeq);
    },
    forget: () => {
      usage.forget();
      keyframes.forget();
    },
  };
}

/** Counts the changes of each Subnet since its last keyframe, and writes keyframes when due. */
function keyframeRows(database: DatabaseSync) {
  const latest = database.prepare('SELECT seq, claims FROM keyframes WHERE subnet = ? ORDER BY seq DESC LIMIT 1');
  const countSince = database.prepare('SELECT count(*) AS count FROM changes WHERE subnet = ? AND seq > ?');
  const claimsOf = database.prepare('SELECT ip, state, last FROM claims WHERE subnet = ? ORDER BY ip');
  claimsOf.setReturnArrays(true);
  const add = database.prepare('INSERT OR REPLACE INTO keyframes (subnet, seq, claims, packed) VALUES (?, ?, ?, ?)');
  const known = new Map<number, { changes: number; readonly limit: number }>();
  const read = (subnet: number) => {
    const { seq = 0, claims = 0 } = (latest.get(subnet) ?? {}) as { seq?: number; claims?: number };
    const changes = Number(countSince.get(subnet, seq)?.['count']);
    return { changes, limit: Math.max(minChanges, claims * changesPerClaim) };
  };
  return {
    count: (subnet: number): void => {
      const one = known.get(subnet);
      if (one) one.changes++;
      else known.set(subnet, read(subnet));
    },
    write: (lastSeq: number): void => {
      for (const [subnet, { changes, limit }] of known)
        if (changes >= limit) {
          const rows = claimsOf.all(subnet) as unknown as ClaimRow[];
          add.run(subnet, lastSeq, rows.length, packKeyframe(rows));
          known.set(subnet, { changes: 0, limit: Math.max(minChanges, rows.length * changesPerClaim) });
        }
    },
    forget: () => known.clear(),
  };
}
