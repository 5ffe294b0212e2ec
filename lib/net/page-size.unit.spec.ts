import { expect } from 'chai';
import { countFitting, maxPageBytes, estimateBytes } from './page-size.ts';

describe('A page', () => {
  it('a page contains all items if they have the usual size', () => {
    expect(countFitting(Array.from({ length: 1_000 }, () => 'x'.repeat(1_000)))).to.equal(1_000);
  });

  it('a page contains no more large items than fit in 4 MiB', () => {
    const items = Array.from({ length: 1_000 }, () => ({ text: 'x'.repeat(128 << 10) }));
    const count = countFitting(items);
    expect(estimateBytes(items.slice(0, count))).to.be.within(maxPageBytes / 2, 4 << 20);
  });

  it('A page has at least one item, so that a reader makes progress', () => {
    expect(countFitting(['x'.repeat(5 << 20), 'y'])).to.equal(1);
    expect(countFitting([])).to.equal(0);
  });

  it('A page counts bytes, not characters', () => {
    expect(estimateBytes('ä'.repeat(1_000))).to.be.at.least(2_000);
  });
});
