import { expect } from 'chai';
import { skewOf } from './skew.ts';

const s = 1_000;

describe('A clock', () => {
  const cases: [string, number[], number | undefined][] = [
    ['is right by itself', [], undefined],
    ['is right beside those that say about the same', [3 * s, -2 * s, 25 * s], undefined],
    ['cannot be told wrong by one other: either may be', [3_600 * s], undefined],
    ['is wrong where two others agree that it is ahead', [3_600 * s, 3_605 * s], 3_605 * s],
    ['is wrong where two others agree that it is behind', [-45 * s, -50 * s], -45 * s],
    ['is not wrong where it is with one of two', [3_600 * s, 1 * s], undefined],
    ['is not wrong where the others disagree with each other, too', [-60 * s, 60 * s], undefined],
    ['is not wrong where the others are both ahead of it and far from each other', [-60 * s, -3_600 * s], undefined],
    ['is not wrong where half of four say so', [90 * s, 91 * s, 0], undefined],
    ['is wrong where three of five say so', [90 * s, 91 * s, 92 * s, 0], 91 * s],
    ['is not wrong by half a minute', [30 * s, 30 * s], undefined],
  ];
  for (const [what, aheadMs, skew] of cases)
    it(what, () => {
      expect(skewOf(aheadMs)).to.equal(skew);
    });
});
