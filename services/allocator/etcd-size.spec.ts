import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { pino } from 'pino';
import { type EtcdSize, watchEtcdSize } from './etcd-size.ts';

describe("The size of etcd's database", () => {
  /** What is warned of at one look. */
  async function warnings(size: EtcdSize, { revision = 1_000, compacted = 900 } = {}): Promise<string[]> {
    const said: string[] = [];
    const log = pino(
      { level: 'warn' },
      { write: (line: string) => said.push((JSON.parse(line) as { msg: string }).msg) },
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
        range: ({ revision: asked }: { revision: string }) =>
          Number(asked) < compacted ? Promise.reject(new Error('compacted')) : Promise.resolve({}),
      },
    } as unknown as Etcd3;
    const stop = new AbortController();
    const sizes: EtcdSize[] = [];
    const onSize = (each: EtcdSize): void => void sizes.push(each);
    const pace = { lookMs: 1, mostRevisions: 500 };
    const watching = watchEtcdSize({ client, quotaBytes: 100, log, onSize, pace }, stop.signal);
    while (sizes.length < 2) await new Promise(setImmediate);
    stop.abort();
    await watching;
    expect(sizes[0]).to.deep.equal(size);
    return [...new Set(said)];
  }

  it('is no news while there is room, and somebody compacts', async () => {
    expect(await warnings({ bytes: 70, inUse: 60 })).to.deep.equal([]);
  });

  it('is an alarm when what is in use comes near the quota', async () => {
    expect(await warnings({ bytes: 90, inUse: 80 })).to.deep.equal([
      "etcd is nearly full: seal events into an archive, or raise etcd's quota",
    ]);
  });

  it('is a warning when only what is free does', async () => {
    const [warning] = await warnings({ bytes: 90, inUse: 20 });
    expect(warning).to.contain('much of it free: defragment it');
  });

  it('comes with a warning when nobody compacts', async () => {
    expect(await warnings({ bytes: 10, inUse: 10 }, { revision: 5_000, compacted: 900 })).to.deep.equal([
      'nobody compacts etcd: is its auto-compaction on?',
    ]);
  });
});
