import { expect } from 'chai';
import fc from 'fast-check';
import { SlotIndex } from './slot-index.ts';

/** Few hashes, so that entries collide. */
const anyHash = fc.oneof(fc.constantFrom(0, 15, -1, -2, 2 ** 31 - 1), fc.integer({ min: -40, max: 40 }));

describe('SlotIndex', () => {
  it('SlotIndex finds every slot of a hash after random additions and removals', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyHash, fc.nat(9), fc.boolean()), { maxLength: 200, size: 'max' }), (steps) => {
        const index = new SlotIndex();
        const entries = new Map<number, Set<number>>();
        for (const [hash, slot, adds] of steps) {
          const slots = entries.get(hash) ?? new Set();
          entries.set(hash, slots);
          if (adds === slots.has(slot)) continue;
          if (adds) index.add(hash, slot);
          else index.remove(hash, slot);
          if (adds) slots.add(slot);
          else slots.delete(slot);
        }
        for (const [hash, slots] of entries) expect(new Set(index.findAll(hash))).to.deep.equal(slots);
        expect(index.size).to.equal([...entries.values()].reduce((sum, { size }) => sum + size, 0));
      }),
    );
  });

  it('SlotIndex throws for the removal of a slot that it does not have', () => {
    const index = new SlotIndex();
    index.add(7, 1);
    for (const [hash, slot] of [
      [7, 2],
      [8, 1],
    ] as const)
      expect(() => index.remove(hash, slot)).to.throw(`slot ${slot} is not in the index`);
    expect([...index.findAll(7)]).to.deep.equal([1]);
  });

  it('SlotIndex compares no slot of another text, when one text has many slots', () => {
    const index = new SlotIndex();
    for (let slot = 0; slot < 10_000; slot++) index.add(7, slot);
    for (let slot = 10_000; slot < 10_100; slot++) index.add(slot, slot);
    let compared = 0;
    for (let slot = 10_000; slot < 10_100; slot++)
      index.find(slot, (each) => {
        compared++;
        return each === slot;
      });
    expect(compared).to.equal(100);
  });
});
