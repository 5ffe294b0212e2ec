/** Unit tests of the index of allocations. */
import { expect } from 'chai';
import { SeqIndex } from './seq-index.ts';

describe('The index of allocations', () => {
  it('has each allocation of a text once, in the order of their addition', () => {
    const index = new SeqIndex();
    for (const seq of [5, 5, 3, 9, 3]) index.add('a', seq);
    index.add('b', 1);
    expect([index.of('a'), index.of('b'), index.of('c')]).to.deep.equal([[5, 3, 9], [1], []]);
    expect([...index.keys()]).to.deep.equal(['a', 'b']);
  });

  it('drops a text with its last allocation', () => {
    const index = new SeqIndex();
    for (const seq of [5, 3, 9]) index.add('a', seq);
    for (const [removed, left] of [
      [7, [5, 3, 9]],
      [5, [3, 9]],
      [9, [3]],
      [3, []],
    ] as const) {
      index.remove('a', removed);
      expect(index.of('a')).to.deep.equal(left);
    }
    expect([...index.keys()]).to.deep.equal([]);
  });
});
