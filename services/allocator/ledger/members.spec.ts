import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { type Etcd, startEtcd } from '../../../test/harness/etcd.ts';
import { type Proxy, startProxy } from '../../../test/harness/proxy.ts';
import { openRun, type Run } from '../../../test/harness/run.ts';
import { connectEtcd } from './etcd-client.ts';
import { memberKey, memberPrefix } from './keys.ts';
import { type Member, Membership, type MembershipOptions, versionToWrite } from './members.ts';
import { never, silent } from './specification.ts';
import { eventVersions } from './upcast.ts';

const newest = eventVersions.at(-1);

describe('The schema version that is written', () => {
  const cases: [string, number[][], number | undefined][] = [
    [
      'is the newest when all replicas read it',
      [
        [1, 2, 3],
        [1, 2, 3],
      ],
      3,
    ],
    ['is the newest that the oldest replica reads', [[1, 2, 3], [1, 2], [1]], 1],
    [
      'is none that this program does not know',
      [
        [...eventVersions, 99],
        [...eventVersions, 99],
      ],
      newest,
    ],
    ['is our oldest when there is none that all read', [[1, 2], [7]], 1],
  ];
  for (const [what, reads, version] of cases)
    it(what, () => {
      expect(versionToWrite(reads.map((each) => ({ reads: each })))).to.equal(version);
    });
});

describe('The members', () => {
  let run: Run;
  let etcd: Etcd;
  let client: Etcd3;
  let proxy: Proxy;
  let far: Etcd3;
  let stops: (() => Promise<void>)[];
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
    stops = [];
  });
  afterEach(async () => {
    await Promise.all(stops.map((stop) => stop()));
    far.close();
  });
  after(async () => {
    client.close();
    await run.end();
  });

  function join(replica: string, reads: readonly number[] = eventVersions, more: Partial<MembershipOptions> = {}) {
    const self: Member = { replica, address: `${replica}:7411`, reads };
    const membership = new Membership({ client, self, log: silent, lookMs: 20, ...more });
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

  it('say of themselves where they are and what they read, on a lease of ten seconds, as long as they live', async () => {
    const { stop } = join('one');
    await until(async () => (await keyed('one')) !== undefined);
    const key = await keyed('one');
    const { at, ...said } = JSON.parse(key?.value.toString() ?? '') as Member & { at: string };
    expect(said).to.deep.equal({ replica: 'one', address: 'one:7411', reads: [...eventVersions] });
    expect(Date.parse(at)).to.be.within(Date.now() - 60_000, Date.now());
    const { grantedTTL } = await client.leaseClient.leaseTimeToLive({ ID: key?.lease ?? '0' });
    expect(grantedTTL).to.equal('10');
    await stop();
    expect(await members()).to.deep.equal([]);
  });

  it('write the oldest version until they have looked, and then the newest that all can read', async () => {
    const { membership } = join('one');
    expect(membership.eventVersion).to.equal(eventVersions[0]);
    await until(() => membership.eventVersion === newest);
    const old = join('old', [1]);
    await until(() => membership.eventVersion === 1);
    await old.stop();
    await until(() => membership.eventVersion === newest);
  });

  it('are not disturbed by a key that nobody of them wrote', async () => {
    await client.put(memberKey('forged')).value('{"reads":');
    await client.put(memberKey('older')).value('{"replica":"older"}');
    const { membership } = join('one');
    await until(() => membership.eventVersion === newest);
  });

  it('make their key anew when it or its lease is gone', async () => {
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

  it('take the key over that they left when they were killed', async () => {
    const ID = (await client.leaseClient.leaseGrant({ TTL: '10' })).ID;
    await client.kv.put({ key: Buffer.from(memberKey('one')), value: Buffer.from('{}'), lease: ID });
    join('one');
    await until(async () => (await keyed('one'))?.value.toString() !== '{}');
    await client.leaseClient.leaseRevoke({ ID });
    expect(await members()).to.deep.equal([memberKey('one')]);
  });

  it('stay what they are while etcd does not answer, and come back', async () => {
    const { membership } = join('one', eventVersions, { client: far });
    await until(() => membership.eventVersion === newest);
    proxy.refuse();
    proxy.cut();
    join('old', [1]);
    await until(async () => (await members()).includes(memberKey('old')));
    expect(membership.eventVersion).to.equal(newest);
    proxy.mend();
    await until(() => membership.eventVersion === 1);
  });

  describe('compare their clocks', () => {
    const hour = 3_600_000;
    /** A clock that can be set. */
    const clock = (aheadMs = 0) => {
      const set = { aheadMs, wall: () => Date.now() + set.aheadMs };
      return set;
    };
    const joinWith = (name: string, set: ReturnType<typeof clock>) =>
      join(name, eventVersions, { wall: set.wall }).membership;

    it('and the one that is far off two others learns it, and when it was set right', async () => {
      const fast = clock(hour);
      const one = joinWith('one', fast);
      const others = [joinWith('two', clock()), joinWith('three', clock(5_000))];
      await until(() => one.off.aborted);
      await Promise.all(others.map((other) => other.agreed(never)));
      expect(others.map(({ off }) => off.aborted)).to.deep.equal([false, false]);
      fast.aheadMs = 0;
      await one.agreed(never);
      expect(one.off.aborted).to.be.false;
      fast.aheadMs = -hour;
      await until(() => one.off.aborted);
    });

    it('and of two neither learns anything: one of them has to write', async () => {
      const [one, two] = [joinWith('one', clock(hour)), joinWith('two', clock())];
      await Promise.all([one.agreed(never), two.agreed(never)]);
      expect([one.off.aborted, two.off.aborted]).to.deep.equal([false, false]);
    });

    it('but not with what one said that is gone', async () => {
      const at = new Date(Date.now() - hour).toISOString();
      for (const name of ['two', 'three'])
        await client.put(memberKey(name)).value(JSON.stringify({ replica: name, address: '', reads: [1, 2], at }));
      const one = joinWith('one', clock());
      await one.agreed(never);
      expect(one.off.aborted).to.be.false;
    });
  });
});
