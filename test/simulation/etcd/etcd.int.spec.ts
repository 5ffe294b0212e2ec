import { startEtcdAndClient } from '../../../ledger/log/testing/etcd-and-client.ts';
import type { EtcdClient } from '../../../ledger/log/store/etcd-client.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { describeEtcd } from './testing/etcd.contract.ts';

describe('A real etcd', () => {
  let run: Run;
  let client: EtcdClient;
  before(async () => {
    run = openRun();
    ({ client } = await startEtcdAndClient(run));
  });
  after(() => run.end());

  describeEtcd('has the behaviour of the model', async () => {
    await client.delete().all();
    return client;
  });
});
