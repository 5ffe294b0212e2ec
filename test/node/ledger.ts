/** What the ledger says of one address. */
import { call, connect } from '../../lib/rpc.ts';
import { type AddressRecord, IpamService } from '../../proto/ipledger.ts';
import { podNetwork } from '../harness/node/cluster.ts';
import type { NodeScene } from './scene.ts';

/** @throws IpledgerError when it cannot be asked */
export async function addressRecord({ stack, run }: NodeScene, address: string): Promise<AddressRecord> {
  const client = connect(stack.allocator.endpoint, undefined);
  try {
    const options = { timeoutMs: 20_000, signal: run.signal };
    const { record } = await call(client, IpamService.get, { subnet: podNetwork, address }, options);
    if (!record) throw new Error(`the ledger has no record of ${address}`);
    return record;
  } finally {
    client.close();
  }
}
