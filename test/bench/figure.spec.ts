import { expect } from 'chai';
import { figure, median, quantile } from './figure.ts';

describe('a figure of the bench', () => {
  const measured = { name: 'verify', what: 'events a second', mostRatio: 3 } as const;

  it('says how many times the floor it costs, whichever way is better', () => {
    expect(figure({ ...measured, ours: [90, 100, 120], floor: [200, 200, 200], better: 'more' })).to.deep.equal({
      name: 'verify',
      what: 'events a second',
      ours: 100,
      floor: 200,
      ratio: 2,
      spread: 0.3,
      goal: 'at most 3 times the floor',
      met: true,
    });
    expect(figure({ ...measured, ours: [8], floor: [2], better: 'less' })).to.include({
      ratio: 4,
      met: false,
      spread: 0,
    });
  });

  it('counts from the middle, and from the top', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect([median(values), quantile(values, 0.99), quantile(values, 1)]).to.deep.equal([50, 99, 100]);
    expect(median([3])).to.equal(3);
  });
});
