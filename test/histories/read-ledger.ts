/** Reads the log and the claims from etcd, with etcdctl alone. */
import type { Machine, Machines } from './machines.ts';

export interface StoredLedger {
  readonly events: readonly { readonly seq: number; readonly subnet: string }[];
  /** The log and the claims, as the checker reads them. */
  readonly lines: readonly string[];
}

/** The part of a claim that the checker compares (docs/audit.md). */
interface StoredClaim {
  readonly alloc?: number;
  readonly holder?: { readonly uid: string };
  readonly bindings: readonly { readonly containerId: string; readonly node: string }[];
  readonly reservation?: { readonly reservedFor: string };
  readonly quarantine?: object;
}

const root = '/ipledger/v1/';

export async function readLedger({ all, etcdctl }: Machines): Promise<StoredLedger> {
  const machine = all[0] as Machine;
  const log = (await etcdctl(machine, 'get', '--prefix', '--print-value-only', `${root}log/`)).trimEnd().split('\n');
  const pairs = (await etcdctl(machine, 'get', '--prefix', `${root}addr/`)).split('\n');
  const claims = pairs.flatMap((key, index) => {
    // The value of a key follows it
    if (index % 2 === 1 || key === '') return [];
    const { alloc = 0, holder, bindings, reservation, quarantine } = JSON.parse(pairs[index + 1] ?? '') as StoredClaim;
    return {
      key: key.slice(`${root}addr/`.length),
      uid: holder?.uid ?? '',
      seq: alloc,
      owner: reservation?.reservedFor ?? '',
      quarantined: quarantine !== undefined,
      bindings: bindings.map(({ containerId, node }) => `${containerId}@${node}`).toSorted(),
    };
  });
  return {
    events: log.map((line) => JSON.parse(line) as StoredLedger['events'][number]),
    lines: [...log.map((event) => JSON.stringify({ event })), ...claims.map((claim) => JSON.stringify({ claim }))],
  };
}
