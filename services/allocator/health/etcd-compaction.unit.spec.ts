import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { EtcdCompaction } from './etcd-compaction.ts';

/**
 * The revisions that are compacted, by second, if the revision is ten times the second and a
 * constant share of the quota is used.
 */
async function compactions(
  seconds: number,
  usedShareAt: (second: number) => number,
  quotaBytes = 2 ** 31,
): Promise<[number, string][]> {
  const done: [number, string][] = [];
  let second = 0;
  const compact = ({ revision }: { readonly revision: string }) => Promise.resolve(done.push([second, revision]));
  const compaction = new EtcdCompaction({ kv: { compact } } as unknown as Pick<Etcd3, 'kv'>, quotaBytes);
  for (; second <= seconds; second++)
    await compaction.onRevision(String(second * 10), usedShareAt(second), second * 1_000);
  return done;
}

describe('EtcdCompaction', () => {
  it('EtcdCompaction does not compact while little of the quota is in use', async () => {
    expect(await compactions(600, () => 0.4)).to.deep.equal([]);
  });

  it('EtcdCompaction compacts once a minute, and keeps the revisions of the last minute', async () => {
    expect(await compactions(190, () => 0.5)).to.deep.equal([
      [60, '0'],
      [120, '600'],
      [180, '1200'],
    ]);
  });

  it('EtcdCompaction keeps only the last seconds if a small quota is nearly full, and the last minute if a large one is', async () => {
    const fills = (second: number): number => (second < 2 ? 0.1 : 0.85);
    expect(await compactions(5, fills, 2 ** 25)).to.deep.equal([
      [2, '0'],
      [4, '20'],
    ]);
    expect(await compactions(100, fills, 2 ** 31)).to.deep.equal([[60, '0']]);
  });
});
