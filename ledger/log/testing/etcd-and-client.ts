/** Test support: a real etcd, and a client connected to it. */
import { type Etcd, type EtcdOptions, startEtcd } from '../../../test/harness/etcd.ts';
import type { Run } from '../../../test/harness/run.ts';
import { connectEtcd, type EtcdClient } from '../store/etcd-client.ts';

/** Starts an empty etcd and a client. Both end with the run, the client first. */
export async function startEtcdAndClient(
  run: Run,
  options: EtcdOptions = {},
): Promise<{ readonly etcd: Etcd; readonly client: EtcdClient }> {
  const etcd = await startEtcd(run, options);
  const client = connectEtcd([etcd.endpoint]);
  run.onEnd(() => client.close());
  return { etcd, client };
}
