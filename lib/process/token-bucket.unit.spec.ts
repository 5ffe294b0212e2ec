import { expect } from 'chai';
import { TokenBucket } from './token-bucket.ts';

describe('A token bucket', () => {
  const takeTimes = (bucket: TokenBucket, times: number, now: number): number =>
    Array.from({ length: times }, () => bucket.take(now)).filter(Boolean).length;

  it('A token bucket permits a burst at once, and then nothing', () => {
    expect(takeTimes(new TokenBucket({ perSecond: 1, burst: 3 }, 0), 5, 0)).to.equal(3);
  });

  it('A token bucket fills over time, up to its burst', () => {
    const bucket = new TokenBucket({ perSecond: 2, burst: 3 }, 0);
    takeTimes(bucket, 3, 0);
    expect(takeTimes(bucket, 5, 1_000)).to.equal(2);
    expect(takeTimes(bucket, 5, 60_000)).to.equal(3);
  });

  it('A token bucket counts fractions of a token', () => {
    const bucket = new TokenBucket({ perSecond: 1, burst: 1 }, 0);
    expect([0, 600, 1_200].map((now) => bucket.take(now))).to.deep.equal([true, false, true]);
  });
});
