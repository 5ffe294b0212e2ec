import { expect } from 'chai';
import fc from 'fast-check';
import { IdleList } from './idle-list.ts';
import type { Undo } from '../state/undo-log.ts';

type Step = { readonly toggle: bigint } | { readonly undo: number };
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt(0n, 9n).map((toggle) => ({ toggle })) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 6 }).map((undo) => ({ undo })) },
);

describe('IdleList', () => {
  it('keeps the order of release after any removes, and each undo restores the exact order', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
        const list = new IdleList();
        const changes: { readonly undo: Undo; readonly before: readonly bigint[] }[] = [];
        for (const step of steps) {
          const before = [...list];
          if ('toggle' in step) {
            const undo = list.remove(step.toggle) ?? list.append(step.toggle);
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
});
