import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { never, silentLog } from '../testing/running-writer.ts';
import { ClusterHealth } from './cluster-health.ts';
import { CallOnce } from './connection-pool.ts';
import { acquireLease } from './etcd-lease.ts';

describe('acquireLease', () => {
  it('renews again after an election in etcd, when a renewal waits for the lost leader', async () => {
    const health = new ClusterHealth(['one']);
    health.onAnswered(0, 0, 1);
    const renewed = Promise.withResolvers<void>();
    let renewals = 0;
    const leaseKeepAlive = (): PassThrough => {
      const stream = new PassThrough({ objectMode: true, transform: (_request, _encoding, done) => done() });
      if (++renewals === 1) setImmediate(() => health.onAnswered(0, 1, 2));
      else renewed.resolve();
      return stream;
    };
    const host = { faultHandling: new CallOnce(health), getServiceClient: () => ({ leaseKeepAlive }) };
    const client = {
      leaseClient: { leaseGrant: () => Promise.resolve({ ID: '7' }), leaseRevoke: () => Promise.resolve() },
      pool: {
        authenticator: { getMetadata: () => Promise.resolve({}) },
        *shuffledHosts() {
          for (;;) yield host;
        },
      },
    };
    const options = { ttlSeconds: 5, renewMs: 0, name: 'a lease', signal: never, log: silentLog };
    const lease = await acquireLease(client as unknown as Etcd3, options);
    await renewed.promise;
    expect(lease.signal.aborted).to.equal(false);
    await lease.revoke();
  });
});
