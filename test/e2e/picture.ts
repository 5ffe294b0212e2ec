/** Everything that shows an address, read at one position of the ledger. */
import { call, connect, type Connection } from '../../lib/rpc.ts';
import { openTls } from '../../lib/tls.ts';
import { type Allocation, IpamService, type Subnet, SubnetsService } from '../../proto/ipledger.ts';
import type { Stack } from '../harness/stack.ts';
import { type KubeObject, kubernetesOf } from './kubernetes.ts';

const callTimeoutMs = 10_000;
const pageSize = 1_000;
const claimPrefix = '/ipledger/v1/addr/';

/** What the key of an address holds, as far as it concerns others. */
export interface ClaimKey {
  readonly last: number;
  readonly alloc?: number;
  readonly holder?: {
    readonly uid: string;
    readonly attachment: { readonly namespace: string; readonly pod: string; readonly provider: string };
  };
  readonly bindings: readonly { readonly containerId: string; readonly interface: string; readonly node: string }[];
}

export interface Picture {
  /** The ledger's word, by gRPC. */
  readonly allocations: readonly Allocation[];
  readonly subnets: readonly Subnet[];
  /** What stands in etcd, by "subnet/address". */
  readonly claims: ReadonlyMap<string, ClaimKey>;
  readonly pods: readonly KubeObject[];
  readonly ips: readonly KubeObject[];
  readonly subnetObjects: readonly KubeObject[];
}

/** What a picture is taken of. */
export type Pictured = Pick<Stack, 'allocator' | 'cluster' | 'etcd' | 'tls'>;

/** Who takes pictures of a stack. */
export interface Photographer {
  /** @throws Error when the ledger moved meanwhile: the parts of such a picture need not fit. Look again. */
  take(): Promise<Picture>;
  close(): void;
}

/** One picture; as `Photographer.take`. */
export async function takePicture(stack: Pictured, signal: AbortSignal): Promise<Picture> {
  const photographer = photographerOf(stack, signal);
  try {
    return await photographer.take();
  } finally {
    photographer.close();
  }
}

/** @param signal ends whatever is being asked. */
export function photographerOf({ allocator, cluster, etcd, tls }: Pictured, signal: AbortSignal): Photographer {
  const kubernetes = kubernetesOf(cluster.kubeconfig, signal);
  const client = connect(allocator.endpoint, tls && openTls(tls));
  return {
    async take() {
      const before = await ledger(client, signal);
      const [claims, pods, ips, subnetObjects] = await Promise.all([
        etcd.etcdctl(['get', '--prefix', claimPrefix]).then(parseClaims),
        kubernetes.list('Pod'),
        kubernetes.list('IP'),
        kubernetes.list('Subnet'),
      ]);
      const { allocations, subnets, seq } = await ledger(client, signal);
      if (seq !== before.seq) throw new Error(`the ledger moved from ${before.seq} to ${seq} while it was looked at`);
      return { allocations, subnets, claims, pods, ips, subnetObjects };
    },
    close: () => client.close(),
  };
}

async function ledger(client: Connection, signal: AbortSignal) {
  const options = { timeoutMs: callTimeoutMs, signal };
  const allocations: Allocation[] = [];
  for (let pageToken = ''; ;) {
    const page = await call(client, IpamService.list, { pageSize, pageToken }, options);
    allocations.push(...page.allocations);
    pageToken = page.nextPageToken;
    if (pageToken === '') break;
  }
  const { subnets, position } = await call(client, SubnetsService.listSubnets, {}, options);
  return { allocations, subnets, seq: position?.seq };
}

/** etcdctl prints a line for each key and one for each value. */
function parseClaims(printed: string): Map<string, ClaimKey> {
  const lines = printed.split('\n').filter((line) => line !== '');
  const claims = new Map<string, ClaimKey>();
  for (let index = 0; index < lines.length; index += 2)
    claims.set((lines[index] ?? '').slice(claimPrefix.length), JSON.parse(lines[index + 1] ?? '') as ClaimKey);
  return claims;
}
