import { expect } from 'chai';
import fc from 'fast-check';
import { SortedList } from './sorted-list.ts';

describe('SortedList', () => {
  it('SortedList has the content of a sorted set after any additions and removals', () => {
    const anyStep = fc.record({ add: fc.boolean(), item: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 80, size: 'max' }), fc.nat(22), fc.nat(5), (steps, from, most) => {
        const list = new SortedList<number>((one, other) => one - other);
        const model = new Set<number>();
        for (const { add, item } of steps) {
          list[add ? 'add' : 'remove'](item);
          model[add ? 'add' : 'delete'](item);
        }
        const sorted = [...model].sort((one, other) => one - other);
        expect(list.size).to.equal(sorted.length);
        expect(list.after(undefined)).to.deep.equal(sorted);
        const behind = sorted.filter((item) => item > from);
        expect(list.after(from, most)).to.deep.equal(behind.slice(0, most));
      }),
    );
  });

  it('SortedList needs a logarithmic number of comparisons to add, remove and find items', () => {
    let compared = 0;
    const list = new SortedList<number>((one, other) => ((compared += 1), one - other));
    for (let item = 0; item < 10_000; item++) list.add((item * 7_919) % 10_007);
    compared = 0;
    list.add(5_000.5);
    list.after(5_000.5, 4);
    list.remove(5_000.5);
    expect(compared).to.be.greaterThan(0).and.lessThan(60);
  });
});
