/** Reads all views that show addresses at one position of the ledger. */
import { call, connect, type Connection } from '../../../lib/grpc/client.ts';
import { readAll } from '../../../lib/ledger-client/pages.ts';
import { loadTls } from '../../../lib/tls/credentials.ts';
import { type Allocation, IpamService, type Subnet, SubnetsService } from '../../../proto/generated/ipledger.ts';
import type { Stack } from '../../harness/stack.ts';
import { type KubeObject, createKubernetesClient } from '../../harness/kubernetes/kubernetes-client.ts';

const callTimeoutMs = 10_000;
const pageSize = 1_000;
const claimPrefix = '/ipledger/v1/addr/';

/** The parts of a claim that other views show, too. */
export interface ClaimKey {
  readonly last: number;
  readonly alloc?: number;
  readonly holder?: {
    readonly uid: string;
    readonly attachment: { readonly namespace: string; readonly pod: string; readonly provider: string };
  };
  readonly bindings: readonly { readonly containerId: string; readonly interface: string; readonly node: string }[];
}

export interface SystemSnapshot {
  /** The allocations that the allocator returns by gRPC. */
  readonly allocations: readonly Allocation[];
  readonly subnets: readonly Subnet[];
  /** The claims in etcd, by "subnet/address". */
  readonly claims: ReadonlyMap<string, ClaimKey>;
  readonly pods: readonly KubeObject[];
  readonly ips: readonly KubeObject[];
  readonly subnetObjects: readonly KubeObject[];
}

/** The programs that a snapshot reads. */
export type SnapshotSource = Pick<Stack, 'allocator' | 'cluster' | 'etcd' | 'tls'>;

/** Reads snapshots of a stack. */
export interface SnapshotReader {
  /** @throws Error if the ledger has changed during the read: the views may differ. Read again. */
  read(): Promise<SystemSnapshot>;
  close(): void;
}

/** Reads one snapshot; see `SnapshotReader.read`. */
export async function readSystemSnapshot(stack: SnapshotSource, signal: AbortSignal): Promise<SystemSnapshot> {
  const reader = openSnapshotReader(stack, signal);
  try {
    return await reader.read();
  } finally {
    reader.close();
  }
}

/** @param signal when aborted, aborts all requests */
export function openSnapshotReader(
  { allocator, cluster, etcd, tls }: SnapshotSource,
  signal: AbortSignal,
): SnapshotReader {
  const kubernetes = createKubernetesClient(cluster.kubeconfig, signal);
  const client = connect(allocator.endpoint, tls && loadTls(tls));
  return {
    async read() {
      const before = await readLedger(client, signal);
      const [claims, pods, ips, subnetObjects] = await Promise.all([
        etcd.etcdctl(['get', '--prefix', claimPrefix]).then(parseClaims),
        kubernetes.list('Pod'),
        kubernetes.list('IP'),
        kubernetes.list('Subnet'),
      ]);
      const { allocations, subnets, seq } = await readLedger(client, signal);
      if (seq !== before.seq) throw new Error(`the ledger moved from ${before.seq} to ${seq} during the read`);
      return { allocations, subnets, claims, pods, ips, subnetObjects };
    },
    close: () => client.close(),
  };
}

async function readLedger(client: Connection, signal: AbortSignal) {
  const options = { timeoutMs: callTimeoutMs, signal };
  const allocations = await readAll(
    (pageToken) => call(client, IpamService.listAllocations, { pageSize, pageToken }, options),
    (page) => page.allocations,
  );
  const { subnets, position } = await call(client, SubnetsService.listSubnets, {}, options);
  return { allocations, subnets, seq: position?.seq };
}

/** Parses the output of etcdctl: one line for each key and one for each value. */
function parseClaims(printed: string): Map<string, ClaimKey> {
  const lines = printed.split('\n').filter((line) => line !== '');
  const claims = new Map<string, ClaimKey>();
  for (let index = 0; index < lines.length; index += 2)
    claims.set((lines[index] ?? '').slice(claimPrefix.length), JSON.parse(lines[index + 1] ?? '') as ClaimKey);
  return claims;
}
