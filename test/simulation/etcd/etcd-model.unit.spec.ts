import { describeLedger } from '../../../ledger/log/testing/ledger.contract.ts';
import { EtcdLedger } from '../../../ledger/log/store/etcd-ledger.ts';
import { describeEtcd } from './testing/etcd.contract.ts';
import { startModel } from './testing/real-time-model.ts';

describeLedger('EtcdLedger on the model of etcd', () => {
  const { client } = startModel();
  return Promise.resolve({
    ledger: new EtcdLedger(client),
    put: async (key, text) => void (await client.put(key).value(text)),
    everything: () => client.getAll().strings(),
    created: async (key) => BigInt((await client.get(key).exec()).kvs[0]?.create_revision ?? 0),
  });
});

describeEtcd('The model of etcd', () => Promise.resolve(startModel().client));
