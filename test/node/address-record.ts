/** Reads the ledger's record of one address. */
import { call, connect } from '../../lib/grpc/client.ts';
import { type AddressRecord, IpamService } from '../../proto/generated/ipledger.ts';
import { podNetwork } from '../harness/node/node-cluster.ts';
import type { NodeEnvironment } from './node-environment.ts';

/** Reads the record. @throws IpledgerError if the allocator does not answer */
export async function getAddressRecord({ stack, run }: NodeEnvironment, address: string): Promise<AddressRecord> {
  const client = connect(stack.allocator.endpoint, undefined);
  try {
    const options = { timeoutMs: 20_000, signal: run.signal };
    const { record } = await call(client, IpamService.getAddress, { subnet: podNetwork, address }, options);
    if (!record) throw new Error(`the ledger has no record of ${address}`);
    return record;
  } finally {
    client.close();
  }
}
