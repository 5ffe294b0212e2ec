/**
 * The servers of the allocation rows: an allocator and the bare server, each with an etcd of its
 * own.
 */
import { call, connect, type Connection } from '../../../../lib/grpc/client.ts';
import { connectEtcd } from '../../../../ledger/log/store/etcd-client.ts';
import { EtcdLedger } from '../../../../ledger/log/store/etcd-ledger.ts';
import { addressKey, addressPrefix, headKey, logKey, logPrefix } from '../../../../ledger/log/store/keys.ts';
import { SubnetsService } from '../../../../proto/generated/ipledger.ts';
import { type Etcd, startEtcd } from '../../../harness/etcd.ts';
import { findFreePort } from '../../../harness/processes/free-ports.ts';
import { probeGrpcHealth } from '../../../harness/processes/readiness-probes.ts';
import { startServer } from '../../../harness/processes/server.ts';
import type { Run } from '../../../harness/run.ts';
import { type AllocatorServer, startAllocator } from '../../../harness/services.ts';
import { floorProgram } from '../../floor-programs.ts';
import { type Acknowledged, allocateOnce, benchProvider, benchSubnet } from './load.ts';

export interface AllocateEnvironment {
  readonly run: Run;
  readonly etcd: Etcd;
  readonly ledger: EtcdLedger;
  readonly allocator: AllocatorServer;
  /** Connections of the same client to the allocator and to the bare server. */
  readonly ours: Connection;
  readonly bare: Connection;
  /** The acknowledged allocations of the allocator and of the bare server. */
  readonly acknowledged: Acknowledged;
  readonly bareAcknowledged: Acknowledged;
  readonly bareEtcd: Etcd;
}

const timeoutMs = 60_000;

/** Starts the servers, with one Subnet of 16 million addresses. */
export async function openAllocateEnvironment(run: Run): Promise<AllocateEnvironment> {
  const etcd = await startEtcd(run, { name: 'etcd-ours' });
  const allocator = await startAllocator(run, { etcd });
  const client = connectEtcd([etcd.endpoint]);
  run.onEnd(() => client.close());
  const ledger = new EtcdLedger(client);
  const ours = openConnection(run, allocator.endpoint);
  await applyBenchSubnet(ours);
  const acknowledged: Acknowledged = new Map();
  await allocateOnce(ours, acknowledged);
  const sizes = await valueSizes(ledger, run.signal);
  const bareEtcd = await startEtcd(run, { name: 'etcd-bare' });
  const bare = openConnection(run, await startBareServer(run, bareEtcd, sizes));
  const bareAcknowledged: Acknowledged = new Map();
  return { run, etcd, ledger, allocator, ours, bare, acknowledged, bareAcknowledged, bareEtcd };
}

/** Applies the Subnet of all requests. */
export async function applyBenchSubnet(connection: Connection): Promise<void> {
  const spec = { cidrBlock: '10.0.0.0/8', gateway: '10.0.0.1', provider: benchProvider };
  await call(connection, SubnetsService.applySubnet, { name: benchSubnet, spec }, { timeoutMs });
}

export function openConnection(run: Run, endpoint: string): Connection {
  const connection = connect(endpoint, undefined);
  run.onEnd(() => connection.close());
  return connection;
}

/** Reads the lengths of an allocator's values, as variables of the bare server. */
async function valueSizes(ledger: EtcdLedger, signal: AbortSignal): Promise<Record<string, string>> {
  const { seq } = await ledger.head(signal);
  const sizeOf = async (key: string): Promise<string> => {
    for await (const { keys } of ledger.keys({ from: key, end: `${key}\0` }, signal))
      for (const { text } of keys) return String(Buffer.byteLength(text));
    throw new Error(`${key} does not exist`);
  };
  return {
    BARE_EVENT_BYTES: await sizeOf(logKey(seq)),
    BARE_CLAIM_BYTES: await sizeOf(addressKey({ subnet: benchSubnet, address: '10.0.0.2' })),
    BARE_HEAD_BYTES: await sizeOf(headKey),
  };
}

async function startBareServer(run: Run, etcd: Etcd, sizes: Record<string, string>): Promise<string> {
  const endpoint = `127.0.0.1:${await findFreePort()}`;
  await startServer(run, {
    name: 'bare-server',
    program: process.execPath,
    args: [floorProgram('bare-server')],
    env: { BARE_ETCD: etcd.endpoint, BARE_LISTEN: endpoint, ...sizes },
    ready: (signal) => probeGrpcHealth(endpoint, undefined, signal),
    readyWithinMs: 60_000,
  });
  return endpoint;
}

/** Compares the acknowledged allocations with the ledger. @throws Error when they differ */
export async function reconcile({
  run,
  ledger,
  acknowledged,
}: Pick<AllocateEnvironment, 'run' | 'ledger' | 'acknowledged'>): Promise<void> {
  const { claims } = await ledger.load(run.signal);
  const held = new Map<string, string>();
  for await (const page of claims)
    for (const { name, claim } of page)
      if (claim?.allocation && name.subnet === benchSubnet) held.set(claim.allocation.attachment.pod, name.address);
  const differing = [...acknowledged].filter(([pod, address]) => held.get(pod) !== address);
  if (differing.length > 0 || held.size !== acknowledged.size)
    throw new Error(
      `${acknowledged.size} allocations were acknowledged and the ledger has ${held.size}; ${differing.length} differ, as ${differing.slice(0, 3).join(' ')}`,
    );
}

/**
 * Compares the acknowledged allocations of the bare server with its etcd, which has an event and an
 * address for each. @throws Error when they differ
 */
export async function reconcileBare({
  bareEtcd,
  bareAcknowledged,
}: Pick<AllocateEnvironment, 'bareEtcd' | 'bareAcknowledged'>): Promise<void> {
  const count = async (prefix: string): Promise<number> => {
    const reply = await bareEtcd.etcdctl(['get', '--prefix', '--count-only', '--write-out=fields', prefix]);
    return Number(/"Count" : (\d+)/.exec(reply)?.[1]);
  };
  const found = [await count(logPrefix), await count(addressPrefix)];
  if (found.some((keys) => keys !== bareAcknowledged.size))
    throw new Error(`the bare server acknowledged ${bareAcknowledged.size}, and has ${found.join(' and ')} keys`);
}
