import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { type Etcd, startEtcd } from '../../../test/harness/etcd.ts';
import { type Proxy, startProxy } from '../../../test/harness/proxy.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { campaign, type Candidate, currentWriter, observeWriter, type Term } from './election.ts';
import { connectEtcd } from './etcd-client.ts';
import { writerKey } from './keys.ts';
import { failureOf, silent } from './specification.ts';

const one: Candidate = { replica: 'one', address: '127.0.0.1:1' };
const two: Candidate = { replica: 'two', address: '127.0.0.1:2' };

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

describe('The election of the writer', () => {
  let run: Run;
  let etcd: Etcd;
  let client: Etcd3;
  let proxy: Proxy;
  let far: Etcd3;
  let life: AbortController;
  before(async function () {
    this.timeout(120_000);
    run = openRun();
    etcd = await startEtcd(run);
    client = connectEtcd([etcd.endpoint]);
  });
  beforeEach(async () => {
    await client.delete().all();
    proxy = await startProxy(run, etcd.endpoint);
    far = connectEtcd([`http://${proxy.endpoint}`]);
    life = new AbortController();
  });
  afterEach(() => {
    life.abort();
    far.close();
  });
  after(async () => {
    client.close();
    await run.end();
  });

  const stand = (candidate: Candidate, by = client, signal = life.signal): Promise<Term> =>
    campaign(by, candidate, signal, silent);

  /** The key of the writer as etcd has it. */
  async function key(): Promise<{ lease: string; create_revision: string; value: Buffer } | undefined> {
    return (await client.get(writerKey).exec()).kvs[0];
  }

  it('gives the office to one, who says where it is, on a lease of five seconds', async () => {
    expect(await currentWriter(client)).to.equal(undefined);
    const term = await stand(one);
    expect(await currentWriter(client)).to.deep.equal(one);
    const held = await key();
    expect(term.revision).to.equal(BigInt(held?.create_revision ?? 0));
    const lease = await client.leaseClient.leaseTimeToLive({ ID: held?.lease ?? '0' });
    expect(lease.grantedTTL).to.equal('5');
  });

  it('gives it to nobody else meanwhile, for longer than the lease: it is renewed', async () => {
    const term = await stand(one);
    const other = new AbortController();
    const waiting = failureOf(stand(two, client, other.signal));
    const { lease = '0' } = (await key()) ?? {};
    // Renewed twice: time to live was seen to go up again.
    let renewals = 0;
    for (let last = 5; renewals < 2;) {
      const left = Number((await client.leaseClient.leaseTimeToLive({ ID: lease })).TTL);
      if (left > last) renewals++;
      last = left;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(term.signal.aborted).to.be.false;
    expect(await currentWriter(client)).to.deep.equal(one);
    other.abort();
    expect(await waiting).to.have.property('name', 'AbortError');
  });

  it('gives it to exactly one of many at a time', async () => {
    const terms: Term[] = [];
    const all = Array.from({ length: 4 }, async (_, index) => {
      const term = await stand({ replica: `${index}`, address: '' });
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
  });

  it('hands over at once when the writer resigns: nothing is left of its lease', async () => {
    const term = await stand(one);
    const { lease: ID = '0' } = (await key()) ?? {};
    await term.resign();
    expect(term.signal.aborted).to.be.true;
    expect(await key()).to.equal(undefined);
    expect((await client.leaseClient.leaseTimeToLive({ ID })).TTL).to.equal('-1');
    await stand(two);
    expect(await currentWriter(client)).to.deep.equal(two);
  });

  it('hands over when the lease of one that died ends', async () => {
    const dying = new AbortController();
    await stand(one, client, dying.signal);
    dying.abort();
    expect(await currentWriter(client)).to.deep.equal(one);
    await stand(two);
    expect(await currentWriter(client)).to.deep.equal(two);
  });

  it('tells those who watch who the writer is, and when it is another', async () => {
    const told: (string | undefined)[] = [];
    const tell = (writer: Candidate | undefined): void => {
      if (told.length === 0 || told.at(-1) !== writer?.replica) told.push(writer?.replica);
    };
    const watching = observeWriter(far, tell, life.signal, silent);
    while (told.length < 1) await turn();
    const term = await stand(one);
    while (told.length < 2) await turn();
    proxy.cut(); // a watch that is lost is opened anew, and a timer looks meanwhile
    await term.resign();
    while (told.length < 3) await turn();
    await stand(two);
    while (told.length < 4) await turn();
    expect(told).to.deep.equal([undefined, 'one', undefined, 'two']);
    life.abort();
    await watching;
  });

  it('tells a writer that etcd does not hear any more, before another can be elected', async () => {
    const term = await stand(one, far);
    proxy.hold();
    await aborted(term.signal);
    expect(await currentWriter(client), 'its lease is still good').to.deep.equal(one);
    await stand(two);
    proxy.mend();
  });

  it('does not give up for a moment without etcd', async () => {
    const term = await stand(one, far);
    const { lease = '0' } = (await key()) ?? {};
    proxy.refuse();
    proxy.cut();
    const left = async (): Promise<number> => Number((await client.leaseClient.leaseTimeToLive({ ID: lease })).TTL);
    while ((await left()) > 3) await turn();
    proxy.mend();
    while ((await left()) < 4) await turn();
    expect(term.signal.aborted).to.be.false;
  });

  it('tells a writer whose lease was revoked', async () => {
    const term = await stand(one);
    await client.leaseClient.leaseRevoke({ ID: (await key())?.lease ?? '0' });
    await aborted(term.signal);
    await term.resign();
  });

  it('goes on when etcd is not there', async () => {
    proxy.refuse();
    proxy.cut();
    const standing = stand(one, far);
    await new Promise((resolve) => setTimeout(resolve, 700));
    proxy.mend();
    await standing;
    expect(await currentWriter(client)).to.deep.equal(one);
  });

  it('is won at the next try by one whom etcd’s word of it did not reach: its own key is not in its way', async () => {
    let [tries, looks] = [0, 0];
    const { kv } = client;
    const lossy: Pick<Etcd3['kv'], 'range' | 'txn'> = {
      range(request) {
        looks++;
        return kv.range(request);
      },
      async txn(request) {
        const reply = await kv.txn(request);
        if (++tries === 1) throw new Error('connection lost');
        return reply;
      },
    };
    await stand(one, Object.create(client, { kv: { value: lossy } }) as Etcd3);
    expect({ tries, looks }).to.deep.equal({ tries: 2, looks: 2 });
  });
});
