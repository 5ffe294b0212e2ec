import { expect } from 'chai';
import { IdleCollection, type Activity } from './idle-collection.ts';

const mebibytes = (count: number): number => count * 2 ** 20;
const idle = (residentMiB: number): Activity => ({
  utilization: 0.01,
  residentBytes: mebibytes(residentMiB),
  heapBytes: mebibytes(40),
});

describe('The collection of an idle program', () => {
  it('is due when the program has grown and is idle', () => {
    const collection = new IdleCollection(mebibytes(100));
    expect(collection.isDue({ ...idle(300), utilization: 0.5 })).to.equal(false);
    expect(collection.isDue(idle(300))).to.equal(true);
  });

  it('is not due after a small growth', () => {
    const collection = new IdleCollection(mebibytes(100));
    expect(collection.isDue(idle(131))).to.equal(false);
    expect(collection.isDue(idle(132))).to.equal(true);
  });

  it('is due once, also if it has returned little, and again after another growth', () => {
    const collection = new IdleCollection(mebibytes(100));
    expect(collection.isDue(idle(300))).to.equal(true);
    collection.onCollected(mebibytes(290));
    expect(collection.isDue(idle(290))).to.equal(false);
    expect(collection.isDue(idle(330))).to.equal(true);
  });

  it('counts the growth from the least memory that the program had', () => {
    const collection = new IdleCollection(mebibytes(300));
    expect(collection.isDue(idle(200))).to.equal(false);
    expect(collection.isDue(idle(240))).to.equal(true);
  });

  it('is not due with a heap whose collection would pause the program for long', () => {
    const collection = new IdleCollection(mebibytes(100));
    expect(collection.isDue({ ...idle(900), heapBytes: mebibytes(300) })).to.equal(false);
  });
});
