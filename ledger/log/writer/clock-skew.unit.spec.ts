import { expect } from 'chai';
import { clockSkewMs } from './membership.ts';

const s = 1_000;

describe('clockSkewMs', () => {
  const cases: [string, number[], number | undefined][] = [
    ['is undefined for a single clock', [], undefined],
    ['is undefined when the clocks agree', [3 * s, -2 * s, 25 * s], undefined],
    ['is undefined for two clocks that differ, because either may be right', [3_600 * s], undefined],
    ['is the difference when two others agree that the clock is ahead', [3_600 * s, 3_605 * s], 3_605 * s],
    ['is the difference when two others agree that the clock is behind', [-45 * s, -50 * s], -45 * s],
    ['is undefined when one of two others agrees', [3_600 * s, 1 * s], undefined],
    ['is undefined when the others also disagree with each other', [-60 * s, 60 * s], undefined],
    ['is undefined when the others are both ahead, but far from each other', [-60 * s, -3_600 * s], undefined],
    ['is undefined when two of four clocks differ', [90 * s, 91 * s, 0], undefined],
    ['is the difference when three of five clocks differ', [90 * s, 91 * s, 92 * s, 0], 91 * s],
    ['is undefined for half a minute', [30 * s, 30 * s], undefined],
    ['is undefined for half a minute behind', [-30 * s, -30 * s], undefined],
    ['is the difference when the others agree within half a minute', [40 * s, 70 * s], 70 * s],
  ];
  for (const [what, aheadMs, skew] of cases)
    it(`clockSkewMs ${what}`, () => {
      expect(clockSkewMs(aheadMs)).to.equal(skew);
    });
});
