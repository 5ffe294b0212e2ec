import { expect } from 'chai';
import fc from 'fast-check';
import { FairFifo } from './fair-fifo.ts';

const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'));
const takeAll = (queue: FairFifo): string[] => Array.from({ length: queue.size }, () => queue.take() ?? '');

describe('FairFifo', () => {
  it('FairFifo gives each waiting namespace a turn before the next key of a namespace with many keys', () => {
    const queue = new FairFifo(namespaceOf);
    for (const key of ['many/1', 'many/2', 'many/3', 'few/1', 'other/1', 'few/2']) queue.add(key);
    expect(takeAll(queue)).to.deep.equal(['many/1', 'few/1', 'other/1', 'many/2', 'few/2', 'many/3']);
  });

  it('FairFifo returns each key once, in the order of arrival of its namespace, after at most one turn of each waiting namespace', () => {
    const anyKey = fc
      .tuple(fc.constantFrom('a', 'b', 'c'), fc.nat({ max: 3 }))
      .map(([namespace, name]) => `${namespace}/${name}`);
    const anyStep = fc.oneof(
      { weight: 5, arbitrary: anyKey },
      { weight: 4, arbitrary: fc.constant('take' as const) },
      { weight: 1, arbitrary: fc.constant('clear' as const) },
    );
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60, size: 'max' }), (steps) => {
        const queue = new FairFifo(namespaceOf);
        let model: string[] = [];
        /** The number of turns of other namespaces since a namespace waits. */
        const passed = new Map<string, number>();
        for (const step of steps) {
          if (step === 'take') {
            const waiting = new Set(model.map(namespaceOf));
            const taken = queue.take();
            expect(taken === undefined).to.equal(model.length === 0);
            if (taken === undefined) continue;
            const own = namespaceOf(taken);
            expect(taken).to.equal(model.find((key) => namespaceOf(key) === own));
            model = model.filter((key) => key !== taken);
            for (const each of waiting) passed.set(each, each === own ? 0 : (passed.get(each) ?? 0) + 1);
            for (const each of waiting) expect(passed.get(each)).to.be.lessThan(3);
          } else if (step === 'clear') {
            queue.clear();
            model = [];
            passed.clear();
          } else {
            queue.add(step);
            if (!model.includes(step)) model.push(step);
          }
          expect(queue.size).to.equal(model.length);
          for (const key of ['a/0', 'b/1']) expect(queue.has(key)).to.equal(model.includes(key));
        }
      }),
    );
  });
});
