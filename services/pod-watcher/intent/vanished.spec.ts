import { expect } from 'chai';
import { Vanished } from './vanished.ts';

const fresh = (options: Partial<ConstructorParameters<typeof Vanished>[0]> = {}): Vanished =>
  new Vanished({ fewest: 20, accept: false, before: 0, ...options });

describe('doubt about what is missing', () => {
  it('begins when more than half of no few are missing at once', () => {
    expect(fresh().judge(10, 20)).to.equal(false);
    expect(fresh().judge(11, 20)).to.equal(true);
    expect(fresh().judge(19, 19)).to.equal(false);
    expect(fresh().judge(0, 0)).to.equal(false);
  });

  it('lasts until half of the missing are back, whoever joins meanwhile', () => {
    const vanished = fresh();
    vanished.judge(60, 100);
    expect(vanished.judge(60, 1_000)).to.equal(true);
    expect(vanished.judge(31, 1_000)).to.equal(true);
    expect(vanished.judge(30, 1_000)).to.equal(false);
    expect(vanished.judge(60, 1_000)).to.equal(false);
  });

  it('grows with what is missed', () => {
    const vanished = fresh();
    vanished.judge(60, 100);
    vanished.judge(90, 100);
    expect(vanished.most).to.equal(90);
    expect(vanished.judge(50, 100)).to.equal(true);
  });

  it('goes over to the next process, unless somebody has looked', () => {
    expect(fresh({ before: 60 }).judge(60, 1_000)).to.equal(true);
    expect(fresh({ before: 60 }).judge(20, 1_000)).to.equal(false);
    const accepting = fresh({ before: 60, accept: true });
    expect([accepting.most, accepting.judge(60, 60)]).to.deep.equal([0, false]);
  });
});
