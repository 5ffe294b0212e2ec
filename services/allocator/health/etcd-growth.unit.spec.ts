import { expect } from 'chai';
import { EtcdGrowth } from './etcd-growth.ts';

const minuteMs = 60_000;

/** The days left after one size for each minute. */
function daysLeft(minutes: number, sizeAt: (minute: number) => number, quota = 2_400): number | undefined {
  const growth = new EtcdGrowth();
  for (let minute = 0; minute < minutes; minute++) growth.add(sizeAt(minute), minute * minuteMs);
  return growth.daysLeft(quota);
}

describe('EtcdGrowth', () => {
  it('EtcdGrowth returns nothing in the first two hours', () => {
    expect(daysLeft(0, () => 0)).to.equal(undefined);
    expect(daysLeft(119, (minute) => minute)).to.equal(undefined);
  });

  it('EtcdGrowth returns the days until the quota is in use, from the growth of the complete hours', () => {
    // The growth is 10 bytes an hour: 2,400 − 20 bytes are left at the beginning of the third hour.
    expect(daysLeft(181, (minute) => minute / 6)).to.equal(2_380 / 240);
  });

  it('EtcdGrowth ignores growth within an hour that compaction frees again', () => {
    const sawtooth = (minute: number): number => Math.floor(minute / 60) * 10 + (minute % 60) * 30;
    expect(daysLeft(301, sawtooth)).to.equal((2_400 - 40) / 240);
  });

  it('EtcdGrowth returns nothing while the size does not grow, and 0 days beyond the quota', () => {
    expect(daysLeft(600, () => 500)).to.equal(undefined);
    expect(daysLeft(600, (minute) => 2_000 - minute)).to.equal(undefined);
    expect(daysLeft(600, (minute) => 2_500 + minute)).to.equal(0);
  });

  it('EtcdGrowth forgets sizes that are older than a day', () => {
    const grewOnce = (minute: number): number => (minute < 60 ? 0 : 1_000);
    expect(daysLeft(20 * 60, grewOnce)).to.be.a('number');
    expect(daysLeft(30 * 60, grewOnce)).to.equal(undefined);
  });
});
