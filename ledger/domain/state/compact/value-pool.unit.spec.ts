import { expect } from 'chai';
import { ValuePool } from './fields.ts';

describe('ValuePool', () => {
  it('ValuePool numbers each value until the pool is full', () => {
    const pool = new ValuePool<string>(2);
    const numbers = ['four', 'five', 'four', 'six'].map((text) => pool.numberOf(text, text));
    expect(numbers).to.deep.equal([0, 1, 0, undefined]);
    expect([0, 1].map((number) => pool.value(number))).to.deep.equal(['four', 'five']);
  });
});
