import { expect } from 'chai';
import { allObjects, MassDeletionGuard } from './mass-deletion-guard.ts';

const createGuard = (haltedBefore: Record<string, number> = {}): MassDeletionGuard =>
  new MassDeletionGuard({ minObjects: 20, haltedBefore });
const update = (guard: MassDeletionGuard, missing: number, expected: number, scope = allObjects): boolean =>
  guard.update(scope, { missing, expected });

describe('the mass-deletion guard', () => {
  it('the mass-deletion guard halts a scope of at least the minimum size if more than half of it is missing', () => {
    expect(update(createGuard(), 10, 20)).to.equal(false);
    expect(update(createGuard(), 11, 20)).to.equal(true);
    expect(update(createGuard(), 19, 19)).to.equal(false);
    expect(update(createGuard(), 0, 0)).to.equal(false);
  });

  it('the mass-deletion guard stays halted until half of the missing objects are back, although new objects are added', () => {
    const guard = createGuard();
    update(guard, 60, 100);
    expect(update(guard, 60, 1_000)).to.equal(true);
    expect(update(guard, 31, 1_000)).to.equal(true);
    expect(update(guard, 30, 1_000)).to.equal(false);
    expect(update(guard, 60, 1_000)).to.equal(false);
  });

  it('the mass-deletion guard counts the highest number of missing objects', () => {
    const guard = createGuard();
    update(guard, 60, 100);
    update(guard, 90, 100);
    expect([...guard.halted]).to.deep.equal([[allObjects, 90]]);
    expect(update(guard, 50, 100)).to.equal(true);
  });

  it('the mass-deletion guard halts each scope separately', () => {
    const guard = createGuard();
    expect(update(guard, 60, 100, 'a')).to.equal(true);
    expect(update(guard, 60, 1_000)).to.equal(false);
    expect(update(guard, 1, 100, 'b')).to.equal(false);
    expect([...guard.halted.keys()]).to.deep.equal(['a']);
  });

  it('the mass-deletion guard stays halted in the next process', () => {
    expect(update(createGuard({ [allObjects]: 60 }), 60, 1_000)).to.equal(true);
    expect(update(createGuard({ [allObjects]: 60 }), 20, 1_000)).to.equal(false);
    expect([...createGuard({ a: 1, b: 0 }).halted]).to.deep.equal([['a', 1]]);
  });

  it('the mass-deletion guard resumes when an operator accepts the missing objects, up to their number and until most exist', () => {
    const guard = createGuard({ a: 60, b: 60 });
    guard.accept({ a: 60 });
    expect([update(guard, 60, 100, 'a'), update(guard, 60, 100, 'b')]).to.deep.equal([false, true]);
    expect(update(guard, 61, 100, 'a')).to.equal(true);
    expect(update(guard, 55, 95, 'a')).to.equal(false);
    expect(guard.accepted).to.deep.equal(['a']);
    expect(update(guard, 40, 80, 'a')).to.equal(false);
    expect(guard.accepted).to.deep.equal([]);
    expect(update(guard, 60, 100, 'a')).to.equal(true);
  });
});
