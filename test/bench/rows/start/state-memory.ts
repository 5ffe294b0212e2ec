/**
 * A program: loads a ledger from etcd as the allocator does, and prints the number of its live
 * allocations and the bytes of its state after garbage collection, as JSON. Run it with
 * --expose-gc. Argument: the endpoint of etcd.
 */
import { connectEtcd } from '../../../../ledger/log/store/etcd-client.ts';
import { EtcdLedger } from '../../../../ledger/log/store/etcd-ledger.ts';
import { Replica } from '../../../../ledger/log/reader/replica.ts';

const { signal } = new AbortController();
const client = connectEtcd([process.argv[2] ?? '']);
const ledger = new EtcdLedger(client);
// The first load also leaves compiled code in the heap: 2 MB that are no state.
await measureLoad();
process.stdout.write(JSON.stringify(await measureLoad()));
client.close();

async function measureLoad(): Promise<{ live: number; bytes: number }> {
  const before = usedBytes();
  const replica = await Replica.load(ledger, signal);
  const bytes = usedBytes() - before;
  let live = 0;
  for (const claims of replica.state.claims.values())
    for (const { allocation } of claims.values()) live += allocation ? 1 : 0;
  return { live, bytes };
}

function usedBytes(): number {
  // Two collections: the first can leave objects that finalizers hold.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
