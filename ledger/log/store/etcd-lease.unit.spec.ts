import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { never, silentLog } from '../testing/running-writer.ts';
import { ClusterHealth } from './cluster-health.ts';
import { CallOnce } from './connection-pool.ts';
import { acquireLease, type HeldLease } from './etcd-lease.ts';

const now = performance.now.bind(performance);

describe('acquireLease', () => {
  let health: ClusterHealth;
  beforeEach(() => void (health = new ClusterHealth(['one'])));
  afterEach(() => void (performance.now = now));

  /** Acquires a lease of five seconds at a member of etcd that answers renewals with `renew`. */
  function acquire(renew: (stream: PassThrough) => void): Promise<HeldLease> {
    const leaseKeepAlive = (): PassThrough => {
      const stream = new PassThrough({ objectMode: true, transform: (_request, _encoding, done) => done() });
      renew(stream);
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
    return acquireLease(client as unknown as Etcd3, options);
  }

  it('acquireLease renews again after an election in etcd, when a renewal waits for the lost leader', async () => {
    health.onAnswered(0, 0, 1);
    const renewed = Promise.withResolvers<void>();
    let renewals = 0;
    const lease = await acquire(() => {
      if (++renewals === 1) setImmediate(() => health.onAnswered(0, 1, 2));
      else renewed.resolve();
    });
    await renewed.promise;
    expect(lease.signal.aborted).to.equal(false);
    await lease.revoke();
  });

  it('acquireLease counts a lease from the time when its renewal was sent, so a lease with a late reply has expired', async () => {
    let time = 0;
    performance.now = () => time;
    const outcome = Promise.withResolvers<string>();
    let renewals = 0;
    const lease = await acquire((stream) => {
      if (++renewals > 1) outcome.resolve('renewed again');
      setImmediate(() => {
        time += 4_600;
        stream.push({ TTL: '5' });
      });
    });
    lease.signal.addEventListener('abort', () => outcome.resolve('expired'));
    expect(await outcome.promise).to.equal('expired');
    await lease.revoke();
  });
});
