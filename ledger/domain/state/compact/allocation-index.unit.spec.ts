import { expect } from 'chai';
import fc from 'fast-check';
import { anyAllocation } from '../../testing/any-claim.ts';
import type { Allocation } from '../claim.ts';
import { AllocationObjects, groupsOf } from '../claims.ts';
import { podKeyOf } from '../state.ts';
import { UndoLog } from '../undo-log.ts';
import { AllocationPageIndex } from './allocation-index.ts';
import { ClaimBytes } from './claim-bytes.ts';

/** Allocations of one Pod. */
const ofOnePod = fc
  .tuple(fc.constantFrom('a', 'b', 'c'), fc.array(anyAllocation, { minLength: 1, maxLength: 3 }))
  .map(([pod, list]) => {
    const named = list.map((each): Allocation => ({
      ...each,
      attachment: { ...each.attachment, namespace: 'default', pod },
    }));
    return { key: `default/${pod}`, list: named };
  });
const anyStep = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), of: ofOnePod }),
  fc.record({ kind: fc.constant('delete' as const), key: fc.constantFrom('default/a', 'default/b') }),
  fc.record({ kind: fc.constant('undo' as const) }),
);

const sorted = (list: Iterable<Allocation> | undefined): string[] =>
  [...(list ?? [])].map((each) => JSON.stringify(each)).toSorted();

describe('AllocationIndex', () => {
  it('AllocationIndex behaves as a Map of lists under random changes and undos', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 30, size: 'max' }), fc.constantFrom(1, 100), (steps, maxKept) => {
        const maps = [
          new AllocationPageIndex(new ClaimBytes(5, maxKept).allocations, podKeyOf),
          new AllocationObjects(),
        ] as const;
        for (const map of maps) {
          const undoLog = new UndoLog();
          for (const step of steps)
            if (step.kind === 'set') undoLog.setKey(map, step.of.key, step.of.list);
            else if (step.kind === 'delete') undoLog.deleteKey(map, step.key);
            else undoLog.rollBack();
        }
        const [index, objects] = maps;
        for (const key of ['default/a', 'default/b', 'default/c', 'other'])
          expect([sorted(index.get(key)), index.has(key)]).to.deep.equal([sorted(objects.get(key)), objects.has(key)]);
        expect(sorted(index.after(0))).to.deep.equal(sorted(objects.after(0)));
        for (const group of new Set([...objects.after(0)].flatMap(groupsOf)))
          expect(sorted(index.after(0, group))).to.deep.equal(sorted(objects.after(0, group)));
        expect(index.size).to.equal([...objects.after(0)].length);
        expect([...index.after(100)].map(({ seq }) => seq)).to.deep.equal(
          [...objects.after(100)].map(({ seq }) => seq),
        );
      }),
    );
  });
});
