import { expect } from 'chai';
import { IdleCollection, type Activity } from './idle-collection.ts';

const mebibytes = (count: number): number => count * 2 ** 20;
const idle = (residentMiB: number): Activity => ({ utilization: 0.01, residentBytes: mebibytes(residentMiB) });
const minuteMs = 60_000;

describe('The collection of an idle program', () => {
  it('The collection of an idle program is due when the program has grown and is idle', () => {
    const collection = new IdleCollection(mebibytes(100));
    expect(collection.isDue({ ...idle(300), utilization: 0.5 }, 0)).to.equal(false);
    expect(collection.isDue(idle(300), 0)).to.equal(true);
  });

  it('The collection of an idle program is not due after a small growth', () => {
    const collection = new IdleCollection(mebibytes(100));
    expect(collection.isDue(idle(131), 0)).to.equal(false);
    expect(collection.isDue(idle(132), 0)).to.equal(true);
  });

  it('a collection is due once, even if it freed little, and again after further growth', () => {
    const collection = new IdleCollection(mebibytes(100));
    expect(collection.isDue(idle(300), 0)).to.equal(true);
    collection.onCollected(mebibytes(290), { now: 0, pauseMs: 50 });
    expect(collection.isDue(idle(290), minuteMs)).to.equal(false);
    expect(collection.isDue(idle(330), minuteMs)).to.equal(true);
  });

  it('a collection is due at most once a minute, so that continuous small work is not interrupted often', () => {
    const collection = new IdleCollection(mebibytes(100));
    collection.onCollected(mebibytes(100), { now: 0, pauseMs: 50 });
    expect(collection.isDue(idle(300), minuteMs - 1)).to.equal(false);
    expect(collection.isDue(idle(300), minuteMs)).to.equal(true);
  });

  it('The collection of an idle program counts the growth from the least memory that the program had', () => {
    const collection = new IdleCollection(mebibytes(300));
    expect(collection.isDue(idle(200), 0)).to.equal(false);
    expect(collection.isDue(idle(240), 0)).to.equal(true);
  });

  it('The collection of an idle program is never due after a collection that has paused the program for more than a second', () => {
    const collection = new IdleCollection(mebibytes(100));
    collection.onCollected(mebibytes(500), { now: 0, pauseMs: 1_001 });
    expect(collection.isDue(idle(900), minuteMs)).to.equal(false);
  });
});
