import { expect } from 'chai';
import { type Etcd, startEtcd } from '../../test/harness/etcd.ts';
import { openRun, type Run } from '../../test/harness/run.ts';
import { connectEtcd, type EtcdClient } from '../../ledger/log/store/etcd-client.ts';
import { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import { never } from '../../ledger/log/testing/running-writer.ts';
import { WriteObstacles } from './write-obstacles.ts';

describe('WriteObstacles', () => {
  let run: Run;
  let etcd: Etcd;
  let client: EtcdClient;
  before(async () => {
    run = openRun();
    etcd = await startEtcd(run, { quotaBytes: 1 << 20 });
    client = connectEtcd([etcd.endpoint]);
  });
  after(async () => {
    client.close();
    await run.end();
  });

  /** The reasons that a replica finds after `uptimeMs`, one look after the other. */
  const obstacles = (sinceWriterSeenMs: number, uptimeMs = 60_000): WriteObstacles =>
    new WriteObstacles({
      readAlarms: async () => (await client.maintenance.status()).errors,
      freezeStore: new EtcdLedger(client),
      sinceWriterSeenMs: () => sinceWriterSeenMs,
      maxAgeMs: 0,
      startedAt: performance.now() - uptimeMs,
    });
  const reasonOf = async (...args: Parameters<typeof obstacles>): Promise<string | undefined> =>
    (await obstacles(...args).find())?.reason;

  /** etcd compares its quota with what it has committed, so the first writes beyond it may succeed. */
  async function fill(): Promise<never> {
    for (;;) await client.put('large').value('x'.repeat(500_000));
  }

  it('finds a full etcd before all other reasons, from its first refusal until its alarm is disarmed', async () => {
    expect(await reasonOf(0)).to.equal(undefined);
    const refusal = await fill().catch((error: unknown) => String(error));
    expect(refusal).to.contain('database space exceeded');
    const found = obstacles(Infinity);
    const first = await found.find();
    expect(first).to.deep.include({
      reason: 'etcd-full',
      message:
        'etcd is full: no address can be allocated or released. Compact and defragment it, then run: etcdctl alarm disarm',
    });
    expect(await found.find(), 'since the first look').to.deep.equal(first);

    await client.delete().all();
    const { header } = await client.maintenance.status();
    await etcd.etcdctl(['compact', '--physical', header.revision]);
    await etcd.etcdctl(['defrag']);
    expect(await reasonOf(0), 'etcd still refuses writes').to.equal('etcd-full');
    await etcd.etcdctl(['alarm', 'disarm']);
    expect(await reasonOf(0)).to.equal(undefined);
  });

  it('reports a missing writer ten seconds after the last one, and after the start of the replica', async () => {
    expect([await reasonOf(9_000), await reasonOf(Infinity, 9_000)]).to.deep.equal([undefined, undefined]);
    expect([await reasonOf(10_000), await reasonOf(Infinity)]).to.deep.equal(['no-writer', 'no-writer']);
  });

  it('reports a freeze with its time', async () => {
    const ledger = new EtcdLedger(client);
    const at = '2026-11-17T14:05:00.000Z';
    const reason = { epoch: 1, seq: 9, hash: 'ab', by: 'ipledger://watcher', at };
    await ledger.freeze(reason, await ledger.head(never), never);
    expect(await obstacles(0).find()).to.include({ reason: 'frozen', since: at });
    await ledger.unfreeze(never);
    expect(await reasonOf(0)).to.equal(undefined);
  });

  it('looks once for all callers within the age of an answer', async () => {
    let looks = 0;
    const found = new WriteObstacles({
      readAlarms: () => Promise.resolve([`${++looks}`]),
      freezeStore: { readFreeze: () => Promise.resolve(undefined) },
      sinceWriterSeenMs: () => 0,
      maxAgeMs: Infinity,
    });
    await Promise.all(Array.from({ length: 5_000 }, () => found.find()));
    expect(looks).to.equal(1);
  });

  it('does not fail without an answer of etcd', async () => {
    const found = new WriteObstacles({
      readAlarms: () => Promise.reject(new Error('no connection')),
      freezeStore: { readFreeze: () => Promise.reject(new Error('no connection')) },
      sinceWriterSeenMs: () => 0,
    });
    expect(await found.find()).to.equal(undefined);
  });
});
