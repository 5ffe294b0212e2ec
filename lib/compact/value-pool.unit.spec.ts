import { expect } from 'chai';
import { ValuePool } from './value-pool.ts';

describe('ValuePool', () => {
  it('has a number for each value, until it has no room', () => {
    const pool = new ValuePool<string>(3, { length: 10 });
    const numbers = ['four', 'seven..', 'four', 'five.', 'a', 'b'].map((text) => pool.numberOf(text, text));
    expect(numbers).to.deep.equal([0, undefined, 0, 1, 2, undefined]);
    expect([0, 1, 2].map((number) => pool.value(number))).to.deep.equal(['four', 'five.', 'a']);
  });

  it('has no number for a value with a long key', () => {
    const pool = new ValuePool<string>(3, { keyLength: 4 });
    expect(['five.', 'four', 'five.'].map((text) => pool.numberOf(text, text))).to.deep.equal([
      undefined,
      0,
      undefined,
    ]);
  });
});
