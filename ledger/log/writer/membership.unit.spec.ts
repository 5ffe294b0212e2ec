import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { pino } from 'pino';
import type { Logger } from '../../../lib/process/log.ts';
import { eventVersions } from '../../domain/events/schema-version.ts';
import { memberKey } from '../store/keys.ts';
import { silentLog } from '../testing/running-writer.ts';
import { Membership, versionToWrite } from './membership.ts';

const now = performance.now.bind(performance);

describe('The member key', () => {
  afterEach(() => void (performance.now = now));

  /** An etcd that grants leases with the numbers 1, 2, …, and has one key. */
  class SmallEtcd {
    key: { readonly lease: string } | undefined;
    readonly revoked: string[] = [];
    leases = 0;
    onRead: () => void = () => undefined;
    onWrite: () => void = () => undefined;
    onGrant: () => void = () => undefined;

    get client(): Etcd3 {
      const kvs = (): object[] =>
        this.key ? [{ ...this.key, key: Buffer.from(memberKey('a')), value: Buffer.from('{}') }] : [];
      const client = {
        kv: {
          range: async () => (this.onRead(), { kvs: kvs() }),
          put: async ({ lease }: { readonly lease: string }) => ((this.key = { lease }), this.onWrite()),
        },
        leaseClient: {
          leaseGrant: async () => (this.onGrant(), { ID: String(++this.leases) }),
          leaseRevoke: async ({ ID }: { readonly ID: string }) => void this.revoked.push(ID),
        },
      };
      return client as unknown as Etcd3;
    }
  }

  /**
   * Refreshes the member key of a replica a number of times.
   * @param afterFirst changes etcd after the first write
   * @returns the lease of each write
   */
  async function refresh(
    etcd: SmallEtcd,
    times: number,
    afterFirst?: () => void,
    log: Logger = silentLog,
  ): Promise<(string | undefined)[]> {
    const stopping = new AbortController();
    const leases: (string | undefined)[] = [];
    let reads = 0;
    etcd.onRead = () => {
      if (++reads <= times) return;
      stopping.abort();
      throw new Error('the test has ended');
    };
    etcd.onWrite = () => {
      leases.push(etcd.key?.lease);
      if (leases.length === 1) afterFirst?.();
    };
    const self = { replica: 'a', address: 'a:7411', reads: eventVersions };
    await new Membership({ client: etcd.client, self, log, refreshMs: 1 }).run(stopping.signal);
    return leases;
  }

  it('The member key stays on one lease, which is revoked when the replica stops', async () => {
    const etcd = new SmallEtcd();
    expect(await refresh(etcd, 3)).to.deep.equal(['1', '1', '1']);
    expect(etcd.revoked).to.deep.equal(['1']);
  });

  it('The member key moves to a new lease when the replica has given up its lease, though etcd still has the key', async () => {
    const etcd = new SmallEtcd();
    let time = 0;
    performance.now = () => time;
    // The first grant takes longer than the lease lasts
    etcd.onGrant = () => void (time = 60_000);
    expect(await refresh(etcd, 2)).to.deep.equal(['1', '2']);
    expect(etcd.revoked).to.deep.equal(['1', '2']);
  });

  it('The member key moves to a new lease when another process has written it under the same name', async () => {
    const etcd = new SmallEtcd();
    expect(await refresh(etcd, 2, () => (etcd.key = { lease: '99' }))).to.deep.equal(['1', '2']);
    expect(etcd.revoked).to.deep.equal(['1', '2']);
  });

  it('The member key with the lease of another process is reported, so that an operator sees two replicas of one name', async () => {
    const reportsOf = async (afterFirst?: (etcd: SmallEtcd) => void): Promise<number> => {
      const etcd = new SmallEtcd();
      const lines: string[] = [];
      const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
      await refresh(etcd, 3, afterFirst && (() => afterFirst(etcd)), log);
      return lines.filter((line) => line.includes('another process uses the name of this replica')).length;
    };
    expect(await reportsOf((etcd) => (etcd.key = { lease: '99' }))).to.equal(1);
    expect(await reportsOf((etcd) => (etcd.key = undefined)), 'after a deletion').to.equal(0);
    expect(await reportsOf(), 'with the own lease').to.equal(0);
  });

  it('The member key is written again on a new lease at the next refresh after its deletion', async () => {
    const etcd = new SmallEtcd();
    expect(await refresh(etcd, 2, () => (etcd.key = undefined))).to.deep.equal(['1', '2']);
    expect(etcd.revoked).to.deep.equal(['1', '2']);
  });
});

describe('The event version that the writer writes', () => {
  const [oldest, newest] = [eventVersions[0], eventVersions.at(-1)];

  it('The event version that the writer writes is the newest that all live replicas read', () => {
    expect(versionToWrite([{ reads: eventVersions }])).to.equal(newest);
    expect(versionToWrite([{ reads: eventVersions }, { reads: [1, 2, 3] }])).to.equal(3);
    expect(versionToWrite([{ reads: [1, 2] }, { reads: [2, 3] }])).to.equal(2);
  });

  it('The event version that the writer writes is the oldest before the first read of the members', () => {
    const self = { replica: 'a', address: 'a:7411', reads: eventVersions };
    expect(new Membership({ client: {} as Etcd3, self, log: silentLog }).eventVersion).to.equal(oldest);
  });

  it('The event version that the writer writes is the oldest if the replicas have none in common', () => {
    expect(versionToWrite([{ reads: eventVersions }, { reads: [99] }])).to.equal(oldest);
  });
});

describe('The clocks of other members', () => {
  let stopping: AbortController;
  beforeEach(() => void (stopping = new AbortController()));
  afterEach(() => {
    stopping.abort();
    performance.now = now;
  });

  /**
   * Reads two members, whose keys change each time, at times of the monotonic clock. Resolves after
   * the last read.
   * @param aheadMs how far this clock is ahead at each read; the last one counts for all later
   * reads
   * @param clocksAt the clocks of the other members at a read, counted from 1. The key of `gone`
   * never changes
   */
  async function readAt(
    times: readonly number[],
    aheadMs = [3_600_000],
    clocksAt: (read: number) => Readonly<Record<string, number>> = () => ({ b: 0, c: 0 }),
  ): Promise<Membership> {
    const done = Promise.withResolvers<void>();
    let [reads, time] = [0, 0];
    performance.now = () => time;
    const range = (): Promise<object> => {
      if (reads === times.length) {
        done.resolve();
        return new Promise(() => undefined);
      }
      time = times[reads++] ?? 0;
      const kvs = Object.entries(clocksAt(reads)).map(([name, clock]) => {
        const value = Buffer.from(JSON.stringify({ reads: eventVersions, at: new Date(clock).toISOString() }));
        return { key: Buffer.from(memberKey(name)), value, mod_revision: name === 'gone' ? '1' : `${reads}` };
      });
      return Promise.resolve({ kvs });
    };
    const client = {
      kv: { range, put: () => Promise.resolve() },
      leaseClient: { leaseGrant: () => Promise.resolve({ ID: '7' }), leaseRevoke: () => Promise.resolve() },
    };
    const membership = new Membership({
      client: client as unknown as Etcd3,
      self: { replica: 'a', address: 'a:7411', reads: eventVersions },
      log: silentLog,
      refreshMs: 1,
      wall: () => aheadMs[reads - 1] ?? aheadMs.at(-1) ?? 0,
    });
    void membership.run(stopping.signal);
    await done.promise;
    return membership;
  }

  it('The clocks of other members are compared when a key has changed since the last refresh', async () => {
    const membership = await readAt([0, 2_000]);
    expect([...membership.aheadMs]).to.deep.equal([
      ['b', 3_600_000],
      ['c', 3_600_000],
    ]);
    expect(membership.clockSkewed.aborted).to.equal(true);
  });

  it('The clocks of other members are read with the event versions that these members read', async () => {
    const membership = await readAt([0]);
    expect(membership.eventVersion).to.equal(eventVersions.at(-1));
  });

  it('The clocks of other members are not compared after a late refresh, because the change may be as old as the previous refresh', async () => {
    const membership = await readAt([0, 60_000]);
    expect([...membership.aheadMs]).to.deep.equal([]);
    expect(membership.clockSkewed.aborted).to.equal(false);
  });

  it('The clocks of other members are compared after a refresh that is ten seconds old', async () => {
    expect((await readAt([0, 10_000])).clockSkewed.aborted).to.equal(true);
  });

  it('The clocks of other members are compared without the clock of a member whose key does not change', async () => {
    const hour = 3_600_000;
    const membership = await readAt([0, 2_000], [0], () => ({ b: hour, c: hour, gone: hour }));
    expect([...membership.aheadMs.keys()]).to.deep.equal(['b', 'c']);
    expect(membership.clockSkewed.aborted).to.equal(true);
  });

  it('The clocks of other members agree again after they are corrected, and their members may leave', async () => {
    const membership = await readAt([0, 2_000, 4_000, 6_000], [3_600_000], (read) => {
      const clock = read < 3 ? 0 : 3_600_000;
      return read < 4 ? { b: clock, c: clock } : {};
    });
    expect(membership.clockSkewed.aborted).to.equal(false);
  });

  it('The clocks of other members agree again after a clock is corrected, so this replica may be the writer', async () => {
    const membership = await readAt([0, 2_000, 4_000], [3_600_000, 3_600_000, 0]);
    expect([...membership.aheadMs.values()]).to.deep.equal([0, 0]);
    expect(membership.clockSkewed.aborted).to.equal(false);
  });

  for (const [what, clocks, aheadMs, isSkewed] of [
    ['no other member is left', {}, 3_600_000, true],
    ['the only other member differs, too', { b: 0 }, 3_600_000, true],
    ['the only other member agrees', { b: 3_570_000 }, 3_600_000, false],
    ['one of the others agrees', { b: 3_600_000, c: 0 }, 3_600_000, false],
    ['no other member is left, and the clock was corrected', {}, 0, false],
  ] as const)
    it(`The clocks of other members showed a wrong clock: it ${isSkewed ? 'stays wrong' : 'is no longer known to be wrong'} when ${what}`, async () => {
      const membership = await readAt([0, 2_000, 4_000], [3_600_000, 3_600_000, aheadMs], (read) =>
        read < 3 ? { b: 0, c: 0 } : clocks,
      );
      expect(membership.clockSkewed.aborted).to.equal(isSkewed);
    });

  it('The clocks of other members showed a clock that is behind: it stays wrong while the time passes', async () => {
    const wall = [-40_000, -38_000, -29_000];
    const membership = await readAt([0, 2_000, 11_000], wall, (read) => (read < 3 ? { b: 2_000, c: 2_000 } : {}));
    expect(membership.clockSkewed.aborted).to.equal(true);
  });

  it('The clocks of other members showed a wrong clock: it is no longer known to be wrong when it was set to their time', async () => {
    const [theirs, wall] = [-3_600_000, [0, 0, -3_600_000]];
    const membership = await readAt([0, 2_000, 4_000], wall, (read) => (read < 3 ? { b: theirs, c: theirs } : {}));
    expect(membership.clockSkewed.aborted).to.equal(false);
  });

  /** The reads after which a replica stops to wait for the comparison of clocks; at most ten. */
  async function readsUntilCompared(kvsOf: (read: number) => readonly object[]): Promise<number> {
    let reads = 0;
    const range = async () => {
      if (++reads === 10) stopping.abort();
      return { kvs: kvsOf(reads) };
    };
    const client = {
      kv: { range, put: async () => undefined },
      leaseClient: { leaseGrant: async () => ({ ID: '7' }), leaseRevoke: async () => undefined },
    } as unknown as Etcd3;
    const self = { replica: 'a', address: 'a:7411', reads: eventVersions };
    const membership = new Membership({ client, self, log: silentLog, refreshMs: 8, wall: () => 0 });
    const compared = membership.untilClockAgrees(stopping.signal);
    expect(await Promise.race([compared.then(() => 'compared'), turn('not compared')])).to.equal('not compared');
    void membership.run(stopping.signal);
    await compared;
    return reads;
  }
  const member = (revision: number, name = 'b') => {
    const value = Buffer.from(JSON.stringify({ reads: eventVersions, at: new Date(0).toISOString() }));
    return { key: Buffer.from(memberKey(name)), value, mod_revision: `${revision}` };
  };

  it('The clocks of other members are awaited until one can be compared, and no longer than three reads', async () => {
    expect(await readsUntilCompared(() => []), 'no other member').to.equal(1);
    expect(await readsUntilCompared((read) => [member(read)]), 'a member that refreshes its key').to.equal(2);
    expect(await readsUntilCompared(() => [member(1)]), 'a member that is gone').to.equal(3);
    expect(await readsUntilCompared((read) => [member(read), member(1, 'c')]), 'both').to.equal(2);
  });
});
