import { expect } from 'chai';
import fc from 'fast-check';
import { AddressSet } from './address-set.ts';
import { type Interval, union } from '../../addresses/interval.ts';
import type { Undo } from '../undo-log.ts';

const page = 1n << 15n;
const v6 = 0xfd00n << 112n;

/** Addresses at the boundaries of words and pages, of both families. */
const boundaries = [
  0n,
  1n,
  30n,
  31n,
  32n,
  33n,
  63n,
  64n,
  page - 2n,
  page - 1n,
  page,
  page + 1n,
  7n * page,
  v6,
  v6 + 1n,
];

type Step =
  | { readonly add: bigint }
  | { readonly fill: bigint }
  | { readonly remove: bigint }
  | { readonly empty: bigint }
  | { readonly undo: number };
/** Enough consecutive addresses to turn a page into a bitmap. */
const runLength = 100n;
const run = (from: bigint): bigint[] => Array.from({ length: Number(runLength) }, (_, index) => from + BigInt(index));
const anyAddress = fc.oneof(fc.constantFrom(...boundaries), fc.bigInt({ min: 0n, max: 200n }));
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: anyAddress.map((add) => ({ add })) },
  { weight: 2, arbitrary: anyAddress.map((remove) => ({ remove })) },
  { weight: 1, arbitrary: anyAddress.map((fill) => ({ fill })) },
  { weight: 1, arbitrary: anyAddress.map((empty) => ({ empty })) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 150 }).map((undo) => ({ undo })) },
);

const single = (value: bigint): Interval => ({ first: value, last: value });

describe('AddressSet', () => {
  it('AddressSet has the size and the ranges of a plain set, after any adds, removes and undos', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 120, size: 'max' }), (steps) => {
        const inUse = new AddressSet();
        const model = new Set<bigint>();
        const undos: Undo[] = [];
        const add = (value: bigint): void => {
          const undo = inUse.add(value);
          expect(undo === undefined).to.equal(model.has(value));
          model.add(value);
          if (undo) undos.push(() => (undo(), model.delete(value)));
        };
        const remove = (value: bigint): void => {
          const undo = inUse.remove(value);
          expect(undo !== undefined).to.equal(model.delete(value));
          if (undo) undos.push(() => (undo(), model.add(value)));
        };
        for (const step of steps) {
          if ('add' in step) add(step.add);
          else if ('fill' in step) run(step.fill).forEach(add);
          else if ('remove' in step) remove(step.remove);
          else if ('empty' in step) run(step.empty).forEach(remove);
          else for (const undo of undos.splice(-step.undo).reverse()) undo();
          expect(inUse.size).to.equal(model.size);
          expect(inUse.ranges()).to.deep.equal(union([...model].map(single)));
        }
      }),
    );
  });

  it('AddressSet does not allocate a bitmap per address for scattered addresses', () => {
    const inUse = new AddressSet();
    const before = process.memoryUsage().arrayBuffers;
    for (let index = 0n; index < 10_000n; index++) inUse.add(v6 + index * 5n * page);
    expect(inUse.size).to.equal(10_000);
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(1 << 20);
  });

  it('AddressSet returns one range for several full pages', () => {
    const inUse = new AddressSet();
    for (let value = 5n; value < 5n + 2n * page; value++) inUse.add(value);
    expect(inUse.ranges()).to.deep.equal([{ first: 5n, last: 4n + 2n * page }]);
  });
});
