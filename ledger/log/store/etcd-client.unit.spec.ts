import { expect } from 'chai';
import { ClientClosedError } from 'etcd3';
import { poolOf } from './connection-pool.ts';
import { connectEtcd } from './etcd-client.ts';

const memberSets = [
  ['one member', ['http://127.0.0.1:1'], 5_000],
  ['two members', ['http://127.0.0.1:1', 'http://127.0.0.1:2'], 1_000],
] as const;

interface Call {
  readonly isStream: boolean;
  readonly service: string;
}

/** Returns the milliseconds that a call may take; undefined for no limit. */
function timeLimitOf(endpoints: readonly string[], call: Call): number | undefined {
  const client = connectEtcd(endpoints);
  const { callOptionsFactory } = poolOf(client) as unknown as {
    readonly callOptionsFactory: (of: Call) => { readonly deadline?: number };
  };
  const now = Date.now;
  try {
    Date.now = () => 0;
    return callOptionsFactory(call).deadline;
  } finally {
    Date.now = now;
    client.close();
  }
}

describe('EtcdClient', () => {
  for (const [members, endpoints, authenticateMs] of memberSets) {
    it(`EtcdClient opens no connection to ${members} after its close`, async () => {
      const client = connectEtcd(endpoints);
      client.close();
      const error: unknown = await client.get('/ipledger/v1/head').catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ClientClosedError);
    });

    it(`EtcdClient ends each call to ${members} after a time, but no stream`, () => {
      expect(timeLimitOf(endpoints, { isStream: true, service: 'Watch' })).to.equal(undefined);
      expect(timeLimitOf(endpoints, { isStream: false, service: 'KV' })).to.equal(5_000);
      expect(timeLimitOf(endpoints, { isStream: false, service: 'Auth' })).to.equal(authenticateMs);
    });
  }
});
