import { expect } from 'chai';
import type { Etcd } from '../../../test/harness/etcd.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import type { EtcdClient } from '../../../ledger/log/store/etcd-client.ts';
import { EtcdLedger } from '../../../ledger/log/store/etcd-ledger.ts';
import { never } from '../../../ledger/log/testing/running-writer.ts';
import { EtcdSpace } from './etcd-space.ts';
import { WriteObstacles } from './write-obstacles.ts';
import { startEtcdAndClient } from '../../../ledger/log/testing/etcd-and-client.ts';

describe('WriteObstacles', () => {
  let run: Run;
  let etcd: Etcd;
  let client: EtcdClient;
  before(async () => {
    run = openRun();
    ({ etcd, client } = await startEtcdAndClient(run, { quotaBytes: 1 << 20 }));
  });
  after(() => run.end());

  it('WriteObstacles reports that only the reserve of etcd is left, and since when', async () => {
    const space = new EtcdSpace(100 << 20, true);
    const found = new WriteObstacles({
      readAlarms: () => Promise.resolve([]),
      freezeStore: { readFreeze: () => Promise.resolve(undefined) },
      lastWriter: { agoMs: 60_000 },
      space,
      maxAgeMs: 0,
    });
    space.update({ bytes: 95 << 20, inUse: 95 << 20 });
    const first = await found.find();
    expect(first).to.include({ reason: 'etcd-nearly-full' });
    space.update({ bytes: 95 << 20, inUse: 94 << 20 });
    expect(await found.find()).to.deep.equal(first);
    space.update({ bytes: 95 << 20, inUse: 50 << 20 });
    expect(await found.find()).to.include({ reason: 'no-writer' });
  });

  /** The results of successive calls, if the last writer was seen this long ago. */
  const obstacles = (agoMs: number, alarms?: readonly string[]): WriteObstacles =>
    new WriteObstacles({
      readAlarms: async () => alarms ?? (await client.maintenance.status()).errors,
      freezeStore: new EtcdLedger(client),
      lastWriter: { agoMs },
      maxAgeMs: 0,
    });
  const reasonOf = async (...args: Parameters<typeof obstacles>): Promise<string | undefined> =>
    (await obstacles(...args).find())?.reason;

  /** Fills etcd. The first writes beyond the quota may succeed: it counts only committed data. */
  async function fill(): Promise<never> {
    for (;;) await client.put('large').value('x'.repeat(500_000));
  }

  it('WriteObstacles finds a full etcd before all other reasons, from its first refusal until its alarm is disarmed', async () => {
    expect(await reasonOf(0)).to.equal(undefined);
    const refusal = await fill().catch((error: unknown) => String(error));
    expect(refusal).to.contain('database space exceeded');
    const found = obstacles(60_000);
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

  it('WriteObstacles finds an etcd with corrupt data before a full etcd, because the remedy of a full etcd would disarm both alarms', async () => {
    const { header } = await client.maintenance.status();
    for (const alarm of ['Nospace', 'Corrupt'] as const)
      await client.maintenance.alarm({ action: 'Activate', memberID: header.member_id, alarm });
    expect(await obstacles(60_000).find()).to.deep.include({
      reason: 'etcd-corrupt',
      message:
        'etcd has the alarm CORRUPT: no address can be allocated or released. Follow the runbook IpledgerNoWrites',
    });
    await etcd.etcdctl(['alarm', 'disarm']);
    expect(await reasonOf(0)).to.equal(undefined);
  });

  it('WriteObstacles finds an alarm of any member, as each version of etcd formats it', async () => {
    const formats = [
      'memberID:1 alarm:NOSPACE',
      'memberID:18446744073709551615  alarm:NOSPACE',
      'memberID:1 alarm:NOSPACE ',
    ];
    for (const alarm of formats) expect(await reasonOf(0, ['etcdserver: no leader', alarm])).to.equal('etcd-full');
    expect(await reasonOf(0, ['alarm:CORRUPT '])).to.equal('etcd-corrupt');
    expect(await reasonOf(0, ['etcdserver: no leader'])).to.equal(undefined);
  });

  it('WriteObstacles reports a missing writer ten seconds after the last writer', async () => {
    expect([await reasonOf(9_999), await reasonOf(10_000)]).to.deep.equal([undefined, 'no-writer']);
  });

  it('WriteObstacles reports a freeze with its time', async () => {
    const ledger = new EtcdLedger(client);
    const at = '2026-11-17T14:05:00.000Z';
    const reason = { epoch: 1, seq: 9, hash: 'ab', by: 'ipledger://watcher', at };
    await ledger.freeze(reason, await ledger.head(never), never);
    expect(await obstacles(0).find()).to.include({ reason: 'frozen', since: at });
    await ledger.unfreeze(never);
    expect(await reasonOf(0)).to.equal(undefined);
  });

  it('WriteObstacles reads etcd once for all callers, within the maximum age of an answer', async () => {
    let looks = 0;
    const found = new WriteObstacles({
      readAlarms: () => Promise.resolve([`${++looks}`]),
      freezeStore: { readFreeze: () => Promise.resolve(undefined) },
      lastWriter: { agoMs: 0 },
      maxAgeMs: Infinity,
    });
    await Promise.all(Array.from({ length: 5_000 }, () => found.find()));
    expect(looks).to.equal(1);
  });

  it('WriteObstacles does not fail if etcd does not answer', async () => {
    const found = new WriteObstacles({
      readAlarms: () => Promise.reject(new Error('no connection')),
      freezeStore: { readFreeze: () => Promise.reject(new Error('no connection')) },
      lastWriter: { agoMs: 0 },
    });
    expect(await found.find()).to.equal(undefined);
  });
});
