import { expect } from 'chai';
import fc from 'fast-check';
import { contains, formatRanges, type Interval, difference, countAddresses, union } from './interval.ts';

const maxValue = 60;
const anyIntervals: fc.Arbitrary<Interval[]> = fc.array(
  fc.tuple(fc.integer({ min: 0, max: maxValue }), fc.integer({ min: 0, max: 12 })).map(([first, length]) => ({
    first: BigInt(first),
    last: BigInt(Math.min(maxValue, first + length)),
  })),
  { maxLength: 12 },
);
const members = (intervals: readonly Interval[]): number[] =>
  Array.from({ length: maxValue + 1 }, (_, value) => value).filter((value) =>
    intervals.some(({ first, last }) => first <= value && value <= last),
  );
const areSortedAndSeparate = (intervals: readonly Interval[]): boolean =>
  intervals.every(
    ({ first, last }, index) => first <= last && (index === 0 || (intervals[index - 1] as Interval).last + 1n < first),
  );

describe('Intervals', () => {
  it('union keeps all members, in sorted intervals that are not adjacent', () => {
    fc.assert(
      fc.property(anyIntervals, (intervals) => {
        const united = union(intervals);
        expect(members(united)).to.deep.equal(members(intervals));
        expect(areSortedAndSeparate(united)).to.equal(true);
        expect(countAddresses(united)).to.equal(BigInt(members(intervals).length));
      }),
    );
  });

  it('difference keeps exactly the members that the subtracted intervals lack', () => {
    fc.assert(
      fc.property(anyIntervals, anyIntervals, (from, without) => {
        const rest = difference(union(from), union(without));
        const holes = new Set(members(without));
        expect(members(rest)).to.deep.equal(members(from).filter((value) => !holes.has(value)));
      }),
    );
  });

  it('Intervals.contains is true for exactly the members of the intervals', () => {
    fc.assert(
      fc.property(anyIntervals, (intervals) => {
        const united = union(intervals);
        const found = Array.from({ length: maxValue + 1 }, (_, value) => value).filter((value) =>
          contains(united, BigInt(value)),
        );
        expect(found).to.deep.equal(members(intervals));
      }),
    );
  });

  it('Intervals are formatted as the ranges of Subnet.status', () => {
    const from = (first: bigint, last: bigint): Interval => ({ first, last });
    expect(formatRanges(4, [from(0x0a000002n, 0x0a000002n), from(0x0a000005n, 0x0a000009n)])).to.equal(
      '10.0.0.2,10.0.0.5-10.0.0.9',
    );
    expect(formatRanges(6, [])).to.equal('');
  });
});
