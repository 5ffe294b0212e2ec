import { expect } from 'chai';
import fc from 'fast-check';
import { FreshAddresses } from './fresh-addresses.ts';
import type { Undo } from '../undo-log.ts';

const page = 1n << 15n;

/** Addresses at the boundaries of words and pages. */
const boundaries = [0n, 1n, 31n, 32n, 1023n, 1024n, page - 1n, page, page + 33n, 5n * page, 5n * page + 2n];
const usable = [
  { first: 0n, last: 1100n },
  { first: page - 2n, last: page + 64n },
  { first: 5n * page, last: 5n * page + 3n },
];

type Step =
  | { readonly take: bigint }
  | { readonly takeLowest: bigint; readonly times: number }
  | { readonly give: bigint }
  | { readonly undo: number };
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom(...boundaries).map((take) => ({ take })),
  fc.constantFrom(...boundaries).map((takeLowest) => ({ takeLowest, times: 1 })),
  // Enough to turn a page into a bitmap.
  fc.constantFrom(...boundaries).map((takeLowest) => ({ takeLowest, times: 100 })),
  fc.constantFrom(...boundaries).map((give) => ({ give })),
  fc.integer({ min: 1, max: 150 }).map((undo) => ({ undo })),
);

describe('FreshAddresses', () => {
  it('WB-83 behaves like a sorted set, after any takes, returns and undos', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 30, size: 'max' }), (steps) => {
        const fresh = new FreshAddresses(usable);
        const model = new Set(
          usable.flatMap(({ first, last }) =>
            Array.from({ length: Number(last - first) + 1 }, (_, i) => first + BigInt(i)),
          ),
        );
        const lowest = (from: bigint): bigint | undefined =>
          [...model].reduce<bigint | undefined>(
            (best, value) => (value >= from && (best === undefined || value < best) ? value : best),
            undefined,
          );
        const undos: Undo[] = [];
        const isUsable = (value: bigint): boolean => usable.some(({ first, last }) => first <= value && value <= last);
        const give = (value: bigint): void => {
          if (!isUsable(value)) return;
          const undo = fresh.give(value);
          expect(undo === undefined).to.equal(model.has(value));
          model.add(value);
          if (undo) undos.push(() => (undo(), model.delete(value)));
        };
        const take = (value: bigint): void => {
          const undo = fresh.take(value);
          expect(undo !== undefined).to.equal(model.delete(value));
          if (undo) undos.push(() => (undo(), model.add(value)));
        };
        for (const step of steps) {
          if ('take' in step) take(step.take);
          else if ('undo' in step) for (const undo of undos.splice(-step.undo).reverse()) undo();
          else if ('give' in step) give(step.give);
          else
            for (let time = 0; time < step.times; time++) {
              const found = fresh.lowest(step.takeLowest);
              expect(found).to.equal(lowest(step.takeLowest));
              if (found !== undefined) take(found);
            }
          expect(fresh.lowest()).to.equal(lowest(0n));
        }
      }),
    );
  });

  it('WB-282 finds the first address of a /64 whose start is excluded, without walking the excluded range', () => {
    const base = 0xfd00n << 112n;
    const fresh = new FreshAddresses([{ first: base + (1n << 60n), last: base + (1n << 64n) - 2n }]);
    expect(fresh.lowest()).to.equal(base + (1n << 60n));
  });

  it('SP-3541 does not allocate a bitmap per address for scattered taken addresses', () => {
    const base = 0xfd00n << 112n;
    const fresh = new FreshAddresses([{ first: base, last: base + (1n << 64n) - 1n }]);
    const before = process.memoryUsage().arrayBuffers;
    for (let index = 0n; index < 10_000n; index++) fresh.take(base + index * 5n * page);
    expect(fresh.lowest()).to.equal(base + 1n);
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(1 << 20);
  });

  it('FreshAddresses finds no address in a full subnet, also when called again', () => {
    const fresh = new FreshAddresses([{ first: 4n, last: 6n }]);
    for (const value of [4n, 5n, 6n]) fresh.take(value);
    expect(fresh.lowest()).to.equal(undefined);
    expect(fresh.lowest()).to.equal(undefined);
    expect(new FreshAddresses([]).lowest()).to.equal(undefined);
  });
});
