import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { pino } from 'pino';
import { type EtcdSize, watchEtcdSize } from './etcd-size.ts';

describe('watchEtcdSize', () => {
  /** Returns the logged messages for one size. */
  async function warnings(size: EtcdSize, { revision = 1_000, compacted = 900 } = {}): Promise<string[]> {
    const logged: string[] = [];
    const log = pino(
      { level: 'warn' },
      { write: (line: string) => logged.push((JSON.parse(line) as { msg: string }).msg) },
    );
    const client = {
      maintenance: {
        status: () =>
          Promise.resolve({
            header: { revision: String(revision) },
            dbSize: String(size.bytes),
            dbSizeInUse: String(size.inUse),
          }),
      },
      kv: {
        range: ({ revision: requested }: { revision: string }) =>
          Number(requested) < compacted ? Promise.reject(new Error('compacted')) : Promise.resolve({}),
      },
    } as unknown as Etcd3;
    const stop = new AbortController();
    const sizes: EtcdSize[] = [];
    const onSize = (each: EtcdSize): void => void sizes.push(each);
    const pace = { pollIntervalMs: 1, reportIntervalMs: 0, maxRevisions: 500 };
    const running = watchEtcdSize({ client, quotaBytes: 100, log, onSize, pace }, stop.signal);
    while (sizes.length < 2) await new Promise(setImmediate);
    stop.abort();
    await running;
    expect(sizes[0]).to.deep.equal({ ...size, daysLeft: undefined });
    return [...new Set(logged)];
  }

  it('watchEtcdSize logs nothing below the quota with regular compaction', async () => {
    expect(await warnings({ bytes: 70, inUse: 60 })).to.deep.equal([]);
  });

  it('watchEtcdSize logs an error when the bytes in use come near the quota', async () => {
    expect(await warnings({ bytes: 90, inUse: 80 })).to.deep.equal([
      "etcd's database is nearly full: at its quota etcd rejects writes. Seal events into an archive (--archive), or raise etcd's quota",
    ]);
  });

  it('watchEtcdSize warns when only the file size comes near the quota', async () => {
    const [warning] = await warnings({ bytes: 90, inUse: 20 });
    expect(warning).to.contain('much of it is free space. Defragment etcd');
  });

  it('watchEtcdSize warns when etcd is not compacted', async () => {
    expect(await warnings({ bytes: 10, inUse: 10 }, { revision: 5_000, compacted: 900 })).to.deep.equal([
      'etcd keeps more than a million old revisions. Switch on its auto-compaction',
    ]);
  });
});
