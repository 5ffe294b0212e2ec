import { expect } from 'chai';
import { createTextHash } from './text-hash.ts';

describe('createTextHash', () => {
  it('createTextHash returns the same hash of 30 bits for a text with the same key', () => {
    const [one, other] = [createTextHash([1, 2]), createTextHash([1, 2])];
    for (const text of ['', 'a', 'ab', 'default/web-0', 'é'.repeat(300)]) {
      expect(one(text)).to.equal(other(text));
      expect(one(text)).to.be.within(0, 2 ** 30 - 1);
    }
  });

  it('createTextHash returns different hashes with another key', () => {
    const [one, other] = [createTextHash([1, 2]), createTextHash([1, 3])];
    expect(one('default/web-0')).not.to.equal(other('default/web-0'));
  });

  it('createTextHash spreads names that differ in a number', () => {
    const hash = createTextHash([7, 9]);
    const hashes = new Set(Array.from({ length: 10_000 }, (_, index) => hash(`default/web-${index}`)));
    expect(hashes.size).to.be.above(9_995);
    const low = Array.from({ length: 64 }, () => 0);
    for (const each of hashes) low[each % 64] = (low[each % 64] ?? 0) + 1;
    expect(Math.max(...low)).to.be.below(250);
  });

  it('createTextHash returns different hashes for a text and its beginning', () => {
    const hash = createTextHash([1, 2]);
    const hashes = new Set(['', '\0', '\0\0', '\0\0\0', 'a', 'a\0', 'a\0\0'].map(hash));
    expect(hashes.size).to.equal(7);
  });
});
