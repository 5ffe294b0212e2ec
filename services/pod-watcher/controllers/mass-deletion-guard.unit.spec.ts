import { expect } from 'chai';
import { MassDeletionGuard } from './mass-deletion-guard.ts';

const createGuard = (options: Partial<ConstructorParameters<typeof MassDeletionGuard>[0]> = {}): MassDeletionGuard =>
  new MassDeletionGuard({ minObjects: 20, accept: false, missingBefore: 0, ...options });

describe('the mass-deletion guard', () => {
  it('halts if more than half of the minimum number are missing', () => {
    expect(createGuard().update(10, 20)).to.equal(false);
    expect(createGuard().update(11, 20)).to.equal(true);
    expect(createGuard().update(19, 19)).to.equal(false);
    expect(createGuard().update(0, 0)).to.equal(false);
  });

  it('stays halted until half of the missing are back, although new objects are added', () => {
    const guard = createGuard();
    guard.update(60, 100);
    expect(guard.update(60, 1_000)).to.equal(true);
    expect(guard.update(31, 1_000)).to.equal(true);
    expect(guard.update(30, 1_000)).to.equal(false);
    expect(guard.update(60, 1_000)).to.equal(false);
  });

  it('counts the highest number of missing objects', () => {
    const guard = createGuard();
    guard.update(60, 100);
    guard.update(90, 100);
    expect(guard.missing).to.equal(90);
    expect(guard.update(50, 100)).to.equal(true);
  });

  it('stays halted in the next process, unless the operator accepts the mass deletion', () => {
    expect(createGuard({ missingBefore: 60 }).update(60, 1_000)).to.equal(true);
    expect(createGuard({ missingBefore: 60 }).update(20, 1_000)).to.equal(false);
    const accepting = createGuard({ missingBefore: 60, accept: true });
    expect([accepting.missing, accepting.update(60, 60)]).to.deep.equal([0, false]);
  });
});
