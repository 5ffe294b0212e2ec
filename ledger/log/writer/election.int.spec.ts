import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import type { Etcd } from '../../../test/harness/etcd.ts';
import { type TcpProxy, startTcpProxy } from '../../../test/harness/network/tcp-proxy.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { campaign, type Candidate, currentWriter, observeWriter, type Term } from './election.ts';
import { connectEtcd } from '../store/etcd-client.ts';
import { writerKey } from '../store/keys.ts';
import { failureOf, silentLog } from '../testing/running-writer.ts';
import { startEtcdAndClient } from '../testing/etcd-and-client.ts';

const one: Candidate = { replica: 'one', address: '127.0.0.1:1' };
const two: Candidate = { replica: 'two', address: '127.0.0.1:2' };

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

describe('campaign', () => {
  let run: Run;
  let etcd: Etcd;
  let client: Etcd3;
  let proxy: TcpProxy;
  let far: Etcd3;
  let life: AbortController;
  before(async function () {
    this.timeout(120_000);
    run = openRun();
    ({ etcd, client } = await startEtcdAndClient(run));
  });
  beforeEach(async () => {
    await client.delete().all();
    proxy = await startTcpProxy(run, etcd.endpoint);
    far = connectEtcd([`http://${proxy.endpoint}`]);
    life = new AbortController();
  });
  afterEach(() => {
    life.abort();
    far.close();
  });
  after(() => run.end());

  const elect = (candidate: Candidate, by = client, signal = life.signal): Promise<Term> =>
    campaign(by, candidate, signal, silentLog);

  /** The key of the writer, as stored in etcd. */
  async function key(): Promise<{ lease: string; create_revision: string; value: Buffer } | undefined> {
    return (await client.get(writerKey).exec()).kvs[0];
  }

  it('campaign elects one replica, with its address, on a lease of five seconds', async () => {
    expect(await currentWriter(client)).to.equal(undefined);
    const term = await elect(one);
    expect(await currentWriter(client)).to.deep.equal(one);
    const held = await key();
    expect(term.revision).to.equal(BigInt(held?.create_revision ?? 0));
    const lease = await client.leaseClient.leaseTimeToLive({ ID: held?.lease ?? '0' });
    expect(lease.grantedTTL).to.equal('5');
  });

  it('campaign elects no other replica while the lease is renewed', async () => {
    const term = await elect(one);
    const other = new AbortController();
    const waiting = failureOf(elect(two, client, other.signal));
    const { lease = '0' } = (await key()) ?? {};
    // Longer than etcd keeps a lease without a renewal.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect(Number((await client.leaseClient.leaseTimeToLive({ ID: lease })).TTL)).to.be.greaterThan(0);
    expect(term.signal.aborted).to.be.false;
    expect(await currentWriter(client)).to.deep.equal(one);
    other.abort();
    expect(await waiting).to.have.property('name', 'AbortError');
  });

  const leases = async (): Promise<string[]> => (await client.leaseClient.leaseLeases()).leases.map(({ ID }) => ID);

  it('campaign elects exactly one of several candidates, and revokes the leases of the others', async () => {
    const before = new Set(await leases());
    const terms: Term[] = [];
    const all = Array.from({ length: 4 }, async (_, index) => {
      const term = await elect({ replica: `${index}`, address: '' });
      terms.push(term);
      return term;
    });
    for (let count = 1; count <= all.length; count++) {
      await Promise.race([
        Promise.all(all),
        (async () => {
          while (terms.length < count) await turn();
        })(),
      ]);
      expect(terms).to.have.length(count);
      const term = terms.at(-1);
      expect(term?.revision).to.equal(BigInt((await key())?.create_revision ?? 0));
      await term?.resign();
    }
    expect((await leases()).filter((id) => !before.has(id))).to.deep.equal([]);
  });

  it('campaign elects the next replica immediately when the writer resigns, and leaves no lease', async () => {
    const term = await elect(one);
    const { lease: ID = '0' } = (await key()) ?? {};
    await term.resign();
    expect(term.signal.aborted).to.be.true;
    expect(await key()).to.equal(undefined);
    expect((await client.leaseClient.leaseTimeToLive({ ID })).TTL).to.equal('-1');
    await elect(two);
    expect(await currentWriter(client)).to.deep.equal(two);
  });

  it('campaign elects the next replica when the lease of a dead writer expires', async () => {
    const dying = new AbortController();
    await elect(one, client, dying.signal);
    dying.abort();
    expect(await currentWriter(client)).to.deep.equal(one);
    await elect(two);
    expect(await currentWriter(client)).to.deep.equal(two);
  });

  it('observeWriter reports the writer and each change of it', async () => {
    const reported: (string | undefined)[] = [];
    const onWriter = (writer: Candidate | undefined): void => {
      if (reported.length === 0 || reported.at(-1) !== writer?.replica) reported.push(writer?.replica);
    };
    const watching = observeWriter(far, onWriter, life.signal, silentLog);
    while (reported.length < 1) await turn();
    const term = await elect(one);
    while (reported.length < 2) await turn();
    proxy.cut(); // the watch is lost and opened again; until then the timer reads the key
    await term.resign();
    while (reported.length < 3) await turn();
    await elect(two);
    while (reported.length < 4) await turn();
    expect(reported).to.deep.equal([undefined, 'one', undefined, 'two']);
    life.abort();
    await watching;
  });

  it('campaign ends the term of a writer without a connection to etcd before another replica can be elected', async () => {
    const term = await elect(one, far);
    proxy.delayBytes();
    await aborted(term.signal);
    expect(await currentWriter(client), 'its lease is still good').to.deep.equal(one);
    await elect(two);
    proxy.restore();
  });

  it('campaign keeps the term during a short outage of etcd', async () => {
    const term = await elect(one, far);
    const { lease = '0' } = (await key()) ?? {};
    proxy.refuse();
    proxy.cut();
    const ttl = async (): Promise<number> => Number((await client.leaseClient.leaseTimeToLive({ ID: lease })).TTL);
    while ((await ttl()) > 3) await turn();
    proxy.restore();
    while ((await ttl()) < 4) await turn();
    expect(term.signal.aborted).to.be.false;
  });

  it('campaign ends the term when the lease is revoked', async () => {
    const term = await elect(one);
    await client.leaseClient.leaseRevoke({ ID: (await key())?.lease ?? '0' });
    await aborted(term.signal);
    await term.resign();
  });

  it('campaign retries while etcd is unavailable', async () => {
    proxy.refuse();
    proxy.cut();
    const electing = elect(one, far);
    await new Promise((resolve) => setTimeout(resolve, 700));
    proxy.restore();
    await electing;
    expect(await currentWriter(client)).to.deep.equal(one);
  });

  it('campaign is elected at the next attempt when the reply of etcd is lost, although the key of the first attempt exists', async () => {
    let [tries, reads] = [0, 0];
    const { kv } = client;
    const lossy: Pick<Etcd3['kv'], 'range' | 'txn'> = {
      range(request) {
        reads++;
        return kv.range(request);
      },
      async txn(request) {
        const reply = await kv.txn(request);
        if (++tries === 1) throw new Error('connection lost');
        return reply;
      },
    };
    await elect(one, Object.create(client, { kv: { value: lossy } }) as Etcd3);
    expect({ tries, reads }).to.deep.equal({ tries: 2, reads: 2 });
  });
});
