import { syncBuiltinESMExports } from 'node:module';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import timers from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { writerKey } from '../store/keys.ts';
import { answerOf, failureOf, never, silentLog } from '../testing/running-writer.ts';
import { campaign, type Candidate, currentWriter, observeWriter, type Term } from './election.ts';

const { setTimeout: sleep } = timers;

const one: Candidate = { replica: 'one', address: '127.0.0.1:1' };
const two: Candidate = { replica: 'two', address: '127.0.0.1:2' };

interface Txn {
  readonly compare: readonly object[];
  readonly success: readonly { readonly request_put: { readonly value: Buffer; readonly lease: string } }[];
}

/** The transactions after which a candidate is said to have missed its election. */
const maxTransactions = 10;

/** An etcd with the key of the writer alone. */
class OneKey {
  readonly life = new AbortController();
  readonly transactions: Txn[] = [];
  readonly granted: { readonly TTL: number }[] = [];
  readonly revoked: string[] = [];
  /** Runs before the next transaction. */
  beforeTransaction = (): unknown => undefined;
  /** Runs after the next transaction. A throw loses its reply. */
  afterTransaction = (): void => undefined;
  /** Runs before each read. */
  beforeRead = (): void => undefined;
  key: { readonly value: Buffer; readonly lease: string } | undefined;
  #revision = 40;
  #watches: PassThrough[] = [];

  get openWatches(): number {
    return this.#watches.length;
  }

  change(key: OneKey['key']): void {
    this.key = key;
    this.#revision++;
    for (const watch of this.#watches) watch.push('changed');
  }

  readonly client = {
    kv: {
      range: async ({ key }: { readonly key: Buffer }) => {
        await turn();
        this.beforeRead();
        return { kvs: this.key && key.toString() === writerKey ? [this.key] : [] };
      },
      txn: async (txn: Txn) => {
        await turn();
        this.transactions.push(txn);
        if (this.transactions.length >= maxTransactions) this.life.abort();
        this.beforeTransaction();
        this.beforeTransaction = () => undefined;
        const succeeded = !this.key;
        const [put] = txn.success;
        if (succeeded && put) this.change(put.request_put);
        const { afterTransaction } = this;
        this.afterTransaction = () => undefined;
        afterTransaction();
        return { succeeded, header: { revision: String(this.#revision) } };
      },
    },
    leaseClient: {
      leaseGrant: (lease: { readonly TTL: number }) => Promise.resolve({ ID: `lease ${this.granted.push(lease)}` }),
      leaseRevoke: ({ ID }: { readonly ID: string }) => {
        this.revoked.push(ID);
        if (this.key?.lease === ID) this.change(undefined);
        return Promise.resolve();
      },
    },
    pool: {
      withConnection: (_service: string, run: (connection: object) => unknown): unknown =>
        Promise.resolve(run({ resource: { faultHandling: { lost: never } }, client: this, metadata: {} })),
    },
  } as unknown as Etcd3;

  watch(): PassThrough {
    const stream = new PassThrough({ objectMode: true, transform: (_request, _, done) => done() });
    const cancel = (): void => void (this.#watches = this.#watches.filter((each) => each !== stream));
    Object.assign(stream, { cancel });
    this.#watches.push(stream);
    return stream;
  }
}

describe('The election', () => {
  let etcd: OneKey;
  beforeEach(() => void (etcd = new OneKey()));
  afterEach(() => {
    etcd.life.abort();
    Object.assign(timers, { setTimeout: sleep });
    syncBuiltinESMExports();
  });

  const elect = (candidate: Candidate): Promise<Term> =>
    answerOf(campaign(etcd.client, candidate, etcd.life.signal, silentLog));
  const turns = async (): Promise<void> => {
    for (let count = 0; count < 50; count++) await turn();
  };

  it('The election of a candidate that is alone needs one transaction, which writes its address on a lease of five seconds', async () => {
    const term = await elect(one);
    expect(etcd.granted).to.deep.equal([{ TTL: 5 }]);
    const key = Buffer.from(writerKey);
    const request_put = { key, value: Buffer.from(JSON.stringify(one)), lease: 'lease 1' };
    expect(etcd.transactions).to.deep.equal([
      {
        compare: [{ key, target: 'Create', result: 'Equal', create_revision: '0' }],
        success: [{ request_put }],
      },
    ]);
    expect([term.revision, term.signal.aborted, etcd.revoked]).to.deep.equal([41n, false, []]);
    expect(await currentWriter(etcd.client)).to.deep.equal(one);
    await turns();
    expect(etcd.openWatches).to.equal(0);
  });

  it('The election takes no lease while there is a writer, and elects the next candidate when the writer resigns', async () => {
    const term = await elect(one);
    const waiting = elect(two);
    await turns();
    expect([etcd.granted.length, etcd.transactions.length]).to.deep.equal([1, 1]);
    await term.resign();
    expect([term.signal.aborted, etcd.revoked]).to.deep.equal([true, ['lease 1']]);
    await waiting;
    expect(await currentWriter(etcd.client)).to.deep.equal(two);
    expect([etcd.granted.length, etcd.transactions.length, etcd.revoked.length]).to.deep.equal([2, 2, 1]);
  });

  it('The election revokes the lease of a candidate when another one was first, and the candidate waits for the next election', async () => {
    etcd.beforeTransaction = () => etcd.change({ value: Buffer.from(JSON.stringify(two)), lease: 'of two' });
    const waiting = elect(one);
    await turns();
    expect([etcd.transactions.length, etcd.revoked]).to.deep.equal([1, ['lease 1']]);
    etcd.change(undefined);
    await waiting;
    expect([etcd.granted.length, etcd.transactions.length, etcd.revoked]).to.deep.equal([2, 2, ['lease 1']]);
  });

  it('The election revokes the lease of a transaction whose reply is lost, so that its key does not block the next attempt after half a second', async () => {
    const pausesMs: number[] = [];
    const record = (ms: number, ...rest: unknown[]): unknown => (
      pausesMs.push(ms),
      Reflect.apply(sleep, timers, [ms, ...rest])
    );
    Object.assign(timers, { setTimeout: record });
    syncBuiltinESMExports();
    let hasPaused = false;
    etcd.afterTransaction = () => {
      etcd.beforeTransaction = () => (hasPaused = pausesMs.includes(500));
      throw new Error('connection lost');
    };
    await elect(one);
    expect([etcd.transactions.length, etcd.revoked, etcd.key?.lease]).to.deep.equal([2, ['lease 1'], 'lease 2']);
    expect(hasPaused).to.equal(true);
  });

  it('The election rejects a candidate that leaves while there is a writer', async () => {
    await elect(two);
    const left = failureOf(elect(one));
    await turns();
    etcd.life.abort();
    expect(await left).to.have.property('name', 'AbortError');
  });

  it('The election is followed by an observer, also after a read of the writer has failed', async () => {
    const seen: (string | undefined)[] = [];
    const observing = observeWriter(etcd.client, (writer) => seen.push(writer?.replica), etcd.life.signal, silentLog);
    await turns();
    etcd.beforeRead = () => {
      throw new Error('connection lost');
    };
    etcd.change(undefined);
    await turns();
    etcd.beforeRead = () => undefined;
    await elect(one);
    await turns();
    etcd.life.abort();
    await answerOf(observing);
    expect(seen).to.deep.equal([undefined, 'one']);
  });
});
