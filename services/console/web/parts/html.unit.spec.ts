import { expect } from 'chai';
import { typeWords } from './html.ts';

describe('The type of an event in words', () => {
  it('The type of an event in words has a space before each word, and one capital', () => {
    expect(['AddressAllocated', 'KeyRotated', 'Other'].map(typeWords)).to.deep.equal([
      'Address allocated',
      'Key rotated',
      'Other',
    ]);
  });
});
