import { expect } from 'chai';
import { ClientClosedError } from 'etcd3';
import { connectEtcd } from './etcd-client.ts';

describe('EtcdClient', () => {
  for (const [members, endpoints] of [
    ['one member', ['http://127.0.0.1:1']],
    ['two members', ['http://127.0.0.1:1', 'http://127.0.0.1:2']],
  ] as const)
    it(`EtcdClient opens no connection to ${members} after its close`, async () => {
      const client = connectEtcd(endpoints);
      client.close();
      const error: unknown = await client.get('/ipledger/v1/head').catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ClientClosedError);
    });
});
