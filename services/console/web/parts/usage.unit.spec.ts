import { expect } from 'chai';
import { shortNumber } from './usage.ts';

describe('A number of addresses', () => {
  it('A number of addresses has separators, and is a power of ten above 12 digits', () => {
    expect(['7', '61234', '18446744073709551614'].map(shortNumber)).to.deep.equal(['7', '61,234', '1.8 × 10^19']);
  });
});
