import { expect } from 'chai';
import fc from 'fast-check';
import { OrderedSlots } from './ordered-slots.ts';

/** Stands for the content of a caller's slots: the numbers of each slot, by group. */
class Model {
  readonly contents = new Map<string, Map<number, readonly number[]>>();
  readonly slots = new OrderedSlots((slot, group) => {
    this.reads++;
    return this.contents.get(group)?.get(slot) ?? [];
  });
  reads = 0;

  set(group: string, slot: number, numbers: readonly number[]): void {
    this.remove(group, slot);
    const known = this.contents.get(group) ?? new Map<number, readonly number[]>();
    this.contents.set(group, known.set(slot, numbers));
    this.slots.add(group, slot, numbers);
  }

  remove(group: string, slot: number): void {
    const known = this.contents.get(group);
    const numbers = known?.get(slot);
    if (!known || !numbers) return;
    this.slots.remove(group, slot, numbers);
    known.delete(slot);
    if (known.size === 0) this.contents.delete(group);
  }

  after(group: string, number: number): string[] {
    const all = [...(this.contents.get(group) ?? [])].flatMap(([slot, numbers]) =>
      numbers.map((each) => ({ number: each, slot })),
    );
    return textsOf(all.filter((each) => each.number > number));
  }
}

/** Sorts by slot also, because slots with equal numbers have no order. */
const textsOf = (entries: Iterable<{ readonly number: number; readonly slot: number }>): string[] =>
  [...entries]
    .toSorted((a, b) => a.number - b.number || a.slot - b.slot)
    .map(({ number, slot }) => `${number}:${slot}`);

describe('OrderedSlots', () => {
  const anyNumbers = fc.uniqueArray(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 3 });
  const anyChange = fc.oneof(
    { weight: 3, arbitrary: fc.record({ slot: fc.nat(900), numbers: anyNumbers }) },
    { weight: 2, arbitrary: fc.record({ slot: fc.nat(900), numbers: fc.constant(undefined) }) },
  );

  it('OrderedSlots yields each number of each slot once, in order, after random changes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b'), anyChange), { maxLength: 4_000, size: 'max' }),
        fc.nat(3_000),
        (changes, from) => {
          const model = new Model();
          for (const [group, { slot, numbers }] of changes)
            if (numbers) model.set(group, slot, numbers);
            else model.remove(group, slot);
          expect([...model.slots.groupsFrom('')]).to.deep.equal([...model.contents.keys()].toSorted());
          for (const group of ['a', 'b', 'none'])
            for (const number of [-1, from]) {
              const found = [...model.slots.after(group, number)];
              expect(found.map((each) => each.number)).to.deep.equal(
                found.map((each) => each.number).toSorted((a, b) => a - b),
              );
              expect(textsOf(found)).to.deep.equal(model.after(group, number));
            }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('OrderedSlots reads only one bucket of 100,000 slots for a page', () => {
    const model = new Model();
    for (let slot = 0; slot < 100_000; slot++) model.set('a', slot, [slot]);
    model.reads = 0;
    const page: number[] = [];
    for (const { number } of model.slots.after('a', 49_999)) if (page.push(number) === 10) break;
    expect(page).to.deep.equal(Array.from({ length: 10 }, (_, index) => 50_000 + index));
    expect(model.reads).to.be.at.most(256);
  });

  it('OrderedSlots reads few slots while 100,000 slots are added in random order and nearly all are removed again', () => {
    const model = new Model();
    const count = 100_000;
    for (let index = 0; index < count; index++) model.set('a', index, [(index * 7_919) % count]);
    expect(model.reads / count).to.be.below(5);
    for (let index = 0; index < count - 500; index++) model.remove('a', index);
    model.reads = 0;
    expect([...model.slots.after('a', -1)]).to.have.length(500);
    expect(model.reads).to.be.at.most(500);
    expect(model.slots.estimatedSize('a')).to.be.within(500, 3_000);
  });

  it('OrderedSlots yields each number of a slot once after the two buckets that have the slot were merged', () => {
    const model = new Model();
    model.set('a', 0, [0, 2_000]);
    for (let slot = 1; slot <= 150; slot++) model.set('a', slot, [10 * slot]);
    for (let slot = 1; slot <= 120; slot++) model.remove('a', slot);
    expect(textsOf(model.slots.after('a', -1))).to.deep.equal(model.after('a', -1));
    model.remove('a', 0);
    expect(textsOf(model.slots.after('a', -1))).to.deep.equal(model.after('a', -1));
  });

  it('OrderedSlots holds any number of slots with the same number', () => {
    const model = new Model();
    for (let slot = 0; slot < 300; slot++) model.set('a', slot, [7]);
    expect(textsOf(model.slots.after('a', 6))).to.deep.equal(model.after('a', 6));
    expect([...model.slots.after('a', 7)]).to.deep.equal([]);
  });
});
