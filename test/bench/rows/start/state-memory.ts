/**
 * A program: loads ledgers of two sizes from etcd as the allocator does, and prints the bytes of
 * each state after garbage collection, as JSON. Run it with --expose-gc. Arguments: the endpoints
 * of the two etcds.
 */
import { connectEtcd } from '../../../../ledger/log/store/etcd-client.ts';
import { EtcdLedger } from '../../../../ledger/log/store/etcd-ledger.ts';
import { Replica } from '../../../../ledger/log/reader/replica.ts';

const { signal } = new AbortController();
const sizes: { readonly live: number; readonly bytes: number }[] = [];
for (const endpoint of process.argv.slice(2)) {
  const client = connectEtcd([endpoint]);
  const ledger = new EtcdLedger(client);
  await ledger.head(signal);
  const before = usedBytes();
  const replica = await Replica.load(ledger, signal);
  const bytes = usedBytes() - before;
  let live = 0;
  for (const claims of replica.state.claims.values())
    for (const { allocation } of claims.values()) live += allocation ? 1 : 0;
  sizes.push({ live, bytes });
  client.close();
}
process.stdout.write(JSON.stringify(sizes));

function usedBytes(): number {
  // Two collections: the first can leave objects that finalizers hold.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
