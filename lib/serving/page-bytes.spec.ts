import { expect } from 'chai';
import { countFitting, mostPageBytes, weightOf } from './page-bytes.ts';

describe('A page', () => {
  it('holds all items of the usual size', () => {
    expect(countFitting(Array.from({ length: 1_000 }, () => 'x'.repeat(1_000)))).to.equal(1_000);
  });

  it('holds no more large items than fit 4 MiB', () => {
    const items = Array.from({ length: 1_000 }, () => ({ text: 'x'.repeat(128 << 10) }));
    const count = countFitting(items);
    expect(weightOf(items.slice(0, count))).to.be.within(mostPageBytes / 2, 4 << 20);
  });

  it('holds at least one item, so that a reader gets on', () => {
    expect(countFitting(['x'.repeat(5 << 20), 'y'])).to.equal(1);
    expect(countFitting([])).to.equal(0);
  });

  it('counts bytes, not characters', () => {
    expect(weightOf('ä'.repeat(1_000))).to.be.at.least(2_000);
  });
});
