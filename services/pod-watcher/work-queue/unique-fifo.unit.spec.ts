import { expect } from 'chai';
import fc from 'fast-check';
import { UniqueFifo } from './fair-fifo.ts';

describe('UniqueFifo', () => {
  it('UniqueFifo returns each key once in the order of arrival, also after it was empty or cleared', () => {
    const anyStep = fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('a', 'b', 'c', 'd', 'e') },
      { weight: 4, arbitrary: fc.constant('take' as const) },
      { weight: 1, arbitrary: fc.constant('clear' as const) },
    );
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60, size: 'max' }), (steps) => {
        const line = new UniqueFifo();
        const model: string[] = [];
        for (const step of steps) {
          if (step === 'take') expect(line.take()).to.equal(model.shift());
          else if (step === 'clear') {
            line.clear();
            model.length = 0;
          } else {
            line.add(step);
            if (!model.includes(step)) model.push(step);
          }
          expect(line.size).to.equal(model.length);
          expect(['a', 'b'].map((key) => line.has(key))).to.deep.equal(['a', 'b'].map((key) => model.includes(key)));
        }
      }),
    );
  });
});
