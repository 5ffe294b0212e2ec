/** Unit tests of the index of allocations. */
import { expect } from 'chai';
import { heldAllocation } from '../testing/fakes.ts';
import { AllocationIndex } from './allocation-index.ts';
import type { HeldAllocation } from './held-allocation.ts';

const podOf = ({ pod }: HeldAllocation): string => pod;
const seqsOf = (index: AllocationIndex, text: string): number[] => index.of(text).map(({ seq }) => seq);

for (const [hashes, hash] of [
  ['different hashes', undefined],
  ['the same hash', () => 1],
] as const)
  describe(`AllocationIndex of texts with ${hashes}`, () => {
    it('has each allocation of a text once, the oldest first', () => {
      const index = new AllocationIndex(podOf, hash);
      for (const seq of [5, 5, 3, 9, 3]) index.put(heldAllocation('a', { seq }));
      index.put(heldAllocation('b', { seq: 1 }));
      expect(['a', 'b', 'c'].map((text) => seqsOf(index, text))).to.deep.equal([[3, 5, 9], [1], []]);
      expect([...index.keys()]).to.deep.equal(['a', 'b']);
    });

    it('drops a text with its last allocation', () => {
      const index = new AllocationIndex(podOf, hash);
      index.put(heldAllocation('b', { seq: 4 }));
      for (const seq of [5, 3, 9]) index.put(heldAllocation('a', { seq }));
      for (const [removed, left] of [
        [7, [3, 5, 9]],
        [4, [3, 5, 9]],
        [5, [3, 9]],
        [9, [3]],
        [3, []],
      ] as const) {
        const has = seqsOf(index, 'a').includes(removed);
        expect(index.remove('a', removed)?.seq).to.equal(has ? removed : undefined);
        expect(seqsOf(index, 'a')).to.deep.equal(left);
      }
      expect([...index.keys()]).to.deep.equal(['b']);
      index.clear();
      expect([...index.keys()]).to.deep.equal([]);
    });

    it('replaces an allocation by a new version of it', () => {
      const index = new AllocationIndex(podOf, hash);
      for (const [seq, node] of [
        [5, ''],
        [6, ''],
        [5, 'node-1'],
      ] as const)
        index.put(heldAllocation('a', { seq, node }));
      expect(index.of('a').map(({ seq, node }) => [seq, node])).to.deep.equal([
        [5, 'node-1'],
        [6, ''],
      ]);
    });
  });
