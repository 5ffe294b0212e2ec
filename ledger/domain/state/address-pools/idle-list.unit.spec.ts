import { expect } from 'chai';
import fc from 'fast-check';
import { IdleList } from './idle-list.ts';
import type { Undo } from '../undo-log.ts';

type Step = { readonly toggle: bigint } | { readonly undo: number };
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt(0n, 9n).map((toggle) => ({ toggle })) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 6 }).map((undo) => ({ undo })) },
);

describe('IdleList', () => {
  for (const family of [4, 6] as const)
    it(`IdleList keeps the order of release after any removes, and each undo restores the exact order, for IPv${family}`, () => {
      fc.assert(
        fc.property(fc.array(anyStep, { maxLength: 60, size: 'max' }), (steps) => {
          const list = new IdleList(family);
          const changes: { readonly undo: Undo; readonly before: readonly bigint[] }[] = [];
          for (const step of steps) {
            const before = [...list];
            if ('toggle' in step) {
              const undo = list.remove(step.toggle) ?? list.append(step.toggle, 0);
              changes.push({ undo, before });
              const after = before.includes(step.toggle)
                ? before.filter((value) => value !== step.toggle)
                : [...before, step.toggle];
              expect([...list]).to.deep.equal(after);
            } else
              for (const change of changes.splice(-step.undo).reverse()) {
                change.undo();
                expect([...list]).to.deep.equal(change.before);
              }
            expect(list.size).to.equal([...list].length);
          }
        }),
      );
    });

  it('IdleList has any number of addresses of either family, also the last of each', () => {
    for (const [family, last] of [
      [4, 2n ** 32n - 1n],
      [6, 2n ** 128n - 1n],
    ] as const) {
      const list = new IdleList(family);
      const values = Array.from({ length: 1_000 }, (_, index) => last - BigInt(index));
      for (const value of values) list.append(value, 0);
      expect([...list]).to.deep.equal(values);
      const even = values.filter((value) => value % 2n === 0n);
      for (const value of even) expect(list.remove(value)).to.not.equal(undefined);
      expect(list.remove(last - 1n)).to.equal(undefined);
      for (const value of even) list.append(value, 0);
      expect([...list]).to.deep.equal([...values.filter((value) => value % 2n !== 0n), ...even]);
    }
  });

  it('IdleList counts and yields the addresses up to any time, also after an undo', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3), { maxLength: 40, size: 'max' }), fc.nat(39), (steps, removed) => {
        const list = new IdleList(4);
        const times = steps.map((_, index) => steps.slice(0, index + 1).reduce((sum, step) => sum + step, 0));
        for (const [index, at] of times.entries()) list.append(BigInt(index), at);
        list.remove(BigInt(removed))?.();
        for (const limit of [-1, ...times]) {
          const expected = times.flatMap((at, index) => (at <= limit ? [BigInt(index)] : []));
          expect([...list.until(limit)]).to.deep.equal(expected);
          expect(list.countUntil(limit)).to.equal(expected.length);
        }
      }),
    );
  });

  it('IdleList inserts an address before the later addresses', () => {
    const list = new IdleList(4);
    for (const value of [1n, 3n, 5n]) list.append(value, 0);
    const undos = [0n, 2n, 4n, 6n].map((value) => list.insert(value, 0, (other) => other > value));
    expect([...list]).to.deep.equal([0n, 1n, 2n, 3n, 4n, 5n, 6n]);
    for (const undo of undos.reverse()) undo();
    expect([...list]).to.deep.equal([1n, 3n, 5n]);
  });
});
