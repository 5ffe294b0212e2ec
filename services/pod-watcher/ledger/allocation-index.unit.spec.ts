import { expect } from 'chai';
import { heldAllocation } from '../testing/fakes.ts';
import { AllocationIndex } from './allocation-index.ts';
import type { HeldAllocation } from './ledger-events.ts';

const podOf = ({ namespace, pod }: HeldAllocation) => ({ namespace, name: pod });
const seqsOf = (index: AllocationIndex, key: string): number[] => index.of(key).map(({ seq }) => seq);

describe('AllocationIndex', () => {
  it('AllocationIndex has each allocation of a name once, oldest first', () => {
    const index = new AllocationIndex(podOf);
    for (const seq of [5, 5, 3, 9, 3]) index.put(heldAllocation('a', { seq }));
    index.put(heldAllocation('b', { seq: 1 }));
    expect(['default/a', 'default/b', 'elsewhere/a'].map((text) => seqsOf(index, text))).to.deep.equal([
      [3, 5, 9],
      [1],
      [],
    ]);
    expect([...index.keys()]).to.deep.equal(['default/a', 'default/b']);
  });

  it('AllocationIndex drops a name with its last allocation', () => {
    const index = new AllocationIndex(podOf);
    index.put(heldAllocation('b', { seq: 4 }));
    for (const seq of [5, 3, 9]) index.put(heldAllocation('a', { seq }));
    for (const [removed, left] of [
      [7, [3, 5, 9]],
      [4, [3, 5, 9]],
      [5, [3, 9]],
      [9, [3]],
      [3, []],
    ] as const) {
      const has = seqsOf(index, 'default/a').includes(removed);
      expect(index.remove('default/a', removed)?.seq).to.equal(has ? removed : undefined);
      expect(seqsOf(index, 'default/a')).to.deep.equal(left);
    }
    expect([...index.keys()]).to.deep.equal(['default/b']);
    index.clear();
    expect([...index.keys()]).to.deep.equal([]);
  });

  it('AllocationIndex replaces an allocation with its new version', () => {
    const index = new AllocationIndex(podOf);
    for (const [seq, node] of [
      [5, ''],
      [6, ''],
      [5, 'node-1'],
    ] as const)
      index.put(heldAllocation('a', { seq, node }));
    expect(index.of('default/a').map(({ seq, node }) => [seq, node])).to.deep.equal([
      [5, 'node-1'],
      [6, ''],
    ]);
  });
});
