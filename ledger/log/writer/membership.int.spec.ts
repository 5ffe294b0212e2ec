import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import type { Etcd } from '../../../test/harness/etcd.ts';
import { type TcpProxy, startTcpProxy } from '../../../test/harness/network/tcp-proxy.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { connectEtcd } from '../store/etcd-client.ts';
import { memberKey, memberPrefix } from '../store/keys.ts';
import { type Member, Membership, type MembershipOptions, versionToWrite } from './membership.ts';
import { never, silentLog } from '../testing/running-writer.ts';
import { eventVersions } from '../../domain/events/schema-version.ts';
import { startEtcdAndClient } from '../testing/etcd-and-client.ts';

const newest = eventVersions.at(-1);

describe('versionToWrite', () => {
  const cases: [string, number[][], number | undefined][] = [
    [
      'returns the newest version when all replicas read it',
      [
        [1, 2, 3],
        [1, 2, 3],
      ],
      3,
    ],
    ['returns the newest version that the oldest replica reads', [[1, 2, 3], [1, 2], [1]], 1],
    [
      'returns no version that is newer than this program',
      [
        [...eventVersions, 99],
        [...eventVersions, 99],
      ],
      newest,
    ],
    ['returns the oldest version of this program when no version is common', [[1, 2], [7]], 1],
  ];
  for (const [what, reads, version] of cases)
    it(`versionToWrite ${what}`, () => {
      expect(versionToWrite(reads.map((each) => ({ reads: each })))).to.equal(version);
    });
});

describe('Membership', () => {
  let run: Run;
  let etcd: Etcd;
  let client: Etcd3;
  let proxy: TcpProxy;
  let far: Etcd3;
  let stops: (() => Promise<void>)[];
  before(async function () {
    this.timeout(120_000);
    run = openRun();
    ({ etcd, client } = await startEtcdAndClient(run));
  });
  beforeEach(async () => {
    await client.delete().all();
    proxy = await startTcpProxy(run, etcd.endpoint);
    far = connectEtcd([`http://${proxy.endpoint}`]);
    stops = [];
  });
  afterEach(async () => {
    await Promise.all(stops.map((stop) => stop()));
    far.close();
  });
  after(() => run.end());

  function join(replica: string, reads: readonly number[] = eventVersions, more: Partial<MembershipOptions> = {}) {
    const self: Member = { replica, address: `${replica}:7411`, reads };
    const membership = new Membership({ client, self, log: silentLog, refreshMs: 20, ...more });
    const stopping = new AbortController();
    const ended = membership.run(stopping.signal);
    const stop = (): Promise<void> => {
      stopping.abort();
      return ended;
    };
    stops.push(stop);
    return { membership, stop };
  }
  const members = async (): Promise<string[]> => (await client.getAll().prefix(memberPrefix).keys()).toSorted();
  const keyed = async (replica: string) => (await client.get(memberKey(replica)).exec()).kvs[0];
  const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await isSo())) await turn();
  };

  it('Membership publishes address and event versions of a replica on a lease of ten seconds, while it lives', async () => {
    const { stop } = join('one');
    await until(async () => (await keyed('one')) !== undefined);
    const key = await keyed('one');
    const { at, ...published } = JSON.parse(key?.value.toString() ?? '') as Member & { at: string };
    expect(published).to.deep.equal({ replica: 'one', address: 'one:7411', reads: [...eventVersions] });
    expect(Date.parse(at)).to.be.within(Date.now() - 60_000, Date.now());
    const { grantedTTL } = await client.leaseClient.leaseTimeToLive({ ID: key?.lease ?? '0' });
    expect(grantedTTL).to.equal('10');
    await stop();
    expect(await members()).to.deep.equal([]);
  });

  it('Membership writes the oldest version before the first refresh, then the newest that all replicas read', async () => {
    const { membership } = join('one');
    expect(membership.eventVersion).to.equal(eventVersions[0]);
    await until(() => membership.eventVersion === newest);
    const old = join('old', [1]);
    await until(() => membership.eventVersion === 1);
    await old.stop();
    await until(() => membership.eventVersion === newest);
  });

  it('Membership ignores a key that is not a member', async () => {
    await client.put(memberKey('forged')).value('{"reads":');
    await client.put(memberKey('older')).value('{"replica":"older"}');
    const { membership } = join('one');
    await until(() => membership.eventVersion === newest);
  });

  it('Membership writes its key again when the key or its lease is lost', async () => {
    const { membership } = join('one');
    await until(async () => (await keyed('one')) !== undefined);
    const { lease = '0' } = (await keyed('one')) ?? {};
    await client.leaseClient.leaseRevoke({ ID: lease });
    await until(async () => (await keyed('one')) !== undefined);
    expect((await keyed('one'))?.lease).to.not.equal(lease);
    await client.delete().key(memberKey('one'));
    await until(async () => (await keyed('one')) !== undefined);
    expect(membership.eventVersion).to.equal(newest);
  });

  it('a restarted replica takes over the key that its killed process left', async () => {
    const ID = (await client.leaseClient.leaseGrant({ TTL: '10' })).ID;
    await client.kv.put({ key: Buffer.from(memberKey('one')), value: Buffer.from('{}'), lease: ID });
    join('one');
    await until(async () => (await keyed('one'))?.value.toString() !== '{}');
    await client.leaseClient.leaseRevoke({ ID });
    expect(await members()).to.deep.equal([memberKey('one')]);
  });

  it('Membership keeps its members while etcd is unavailable, and recovers', async () => {
    const { membership } = join('one', eventVersions, { client: far });
    await until(() => membership.eventVersion === newest);
    proxy.refuse();
    proxy.cut();
    join('old', [1]);
    await until(async () => (await members()).includes(memberKey('old')));
    expect(membership.eventVersion).to.equal(newest);
    proxy.restore();
    await until(() => membership.eventVersion === 1);
  });

  describe('comparing clocks', () => {
    const hour = 3_600_000;
    /** A clock that a test can set. */
    const clock = (aheadMs = 0) => {
      const set = { aheadMs, wall: () => Date.now() + set.aheadMs };
      return set;
    };
    const joinWith = (name: string, set: ReturnType<typeof clock>) =>
      join(name, eventVersions, { wall: set.wall }).membership;

    it('Membership reports skew to the only replica of three whose clock differs, until the clock is corrected', async () => {
      const fast = clock(hour);
      const one = joinWith('one', fast);
      const others = [joinWith('two', clock()), joinWith('three', clock(5_000))];
      await until(() => one.clockSkewed.aborted);
      await Promise.all(others.map((other) => other.untilClockAgrees(never)));
      expect(others.map(({ clockSkewed }) => clockSkewed.aborted)).to.deep.equal([false, false]);
      fast.aheadMs = 0;
      await one.untilClockAgrees(never);
      expect(one.clockSkewed.aborted).to.be.false;
      fast.aheadMs = -hour;
      await until(() => one.clockSkewed.aborted);
    });

    it('Membership comparing clocks stays skewed when the replicas that showed the skew are gone, until the clock is corrected', async () => {
      const fast = clock(hour);
      const one = joinWith('one', fast);
      const others = [join('two'), join('three')];
      await until(() => one.clockSkewed.aborted);
      await others[0]?.stop();
      await until(() => one.aheadMs.size === 1);
      expect(one.clockSkewed.aborted, 'with one other clock').to.be.true;
      await others[1]?.stop();
      await until(() => one.aheadMs.size === 0);
      expect(one.clockSkewed.aborted, 'alone').to.be.true;
      fast.aheadMs = 0;
      await one.untilClockAgrees(never);
    });

    it('Membership reports no skew to two replicas, because one of them has to write', async () => {
      const [one, two] = [joinWith('one', clock(hour)), joinWith('two', clock())];
      await Promise.all([one.untilClockAgrees(never), two.untilClockAgrees(never)]);
      expect([one.clockSkewed.aborted, two.clockSkewed.aborted]).to.deep.equal([false, false]);
    });

    it('Membership comparing clocks ignores the clock of a replica that has left', async () => {
      const at = new Date(Date.now() - hour).toISOString();
      for (const name of ['two', 'three'])
        await client.put(memberKey(name)).value(JSON.stringify({ replica: name, address: '', reads: [1, 2], at }));
      const one = joinWith('one', clock());
      await one.untilClockAgrees(never);
      expect(one.clockSkewed.aborted).to.be.false;
    });
  });
});
