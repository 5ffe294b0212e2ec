import { expect } from 'chai';
import fc from 'fast-check';
import { contains, formatRanges, type Interval, minus, size, union } from './interval.ts';

const most = 60;
const anyIntervals: fc.Arbitrary<Interval[]> = fc.array(
  fc.tuple(fc.integer({ min: 0, max: most }), fc.integer({ min: 0, max: 12 })).map(([first, length]) => ({
    first: BigInt(first),
    last: BigInt(Math.min(most, first + length)),
  })),
  { maxLength: 12 },
);
const members = (intervals: readonly Interval[]): number[] =>
  Array.from({ length: most + 1 }, (_, value) => value).filter((value) =>
    intervals.some(({ first, last }) => first <= value && value <= last),
  );
const areSortedAndApart = (intervals: readonly Interval[]): boolean =>
  intervals.every(
    ({ first, last }, index) => first <= last && (index === 0 || (intervals[index - 1] as Interval).last + 1n < first),
  );

describe('Intervals', () => {
  it('united have the same members, sorted and apart', () => {
    fc.assert(
      fc.property(anyIntervals, (intervals) => {
        const united = union(intervals);
        expect(members(united)).to.deep.equal(members(intervals));
        expect(areSortedAndApart(united)).to.equal(true);
        expect(size(united)).to.equal(BigInt(members(intervals).length));
      }),
    );
  });

  it('less others have the members of the one that the others have not', () => {
    fc.assert(
      fc.property(anyIntervals, anyIntervals, (from, without) => {
        const rest = minus(union(from), union(without));
        const holes = new Set(members(without));
        expect(members(rest)).to.deep.equal(members(from).filter((value) => !holes.has(value)));
      }),
    );
  });

  it('contain exactly their members', () => {
    fc.assert(
      fc.property(anyIntervals, (intervals) => {
        const united = union(intervals);
        const found = Array.from({ length: most + 1 }, (_, value) => value).filter((value) =>
          contains(united, BigInt(value)),
        );
        expect(found).to.deep.equal(members(intervals));
      }),
    );
  });

  it('are written as Subnet.status writes ranges', () => {
    const from = (first: bigint, last: bigint): Interval => ({ first, last });
    expect(formatRanges(4, [from(0x0a000002n, 0x0a000002n), from(0x0a000005n, 0x0a000009n)])).to.equal(
      '10.0.0.2,10.0.0.5-10.0.0.9',
    );
    expect(formatRanges(6, [])).to.equal('');
  });
});
