import { expect } from 'chai';
import { EventBudget } from './event-budget.ts';

describe('EventBudget', () => {
  let seconds: number;
  let budget: EventBudget;
  beforeEach(() => {
    seconds = 0;
    budget = new EventBudget({ perSecond: 2, burst: 100 }, () => seconds * 1_000);
  });

  it('grants a Pod its burst at once, then as many as its rate, and names the time until then', () => {
    expect([24, 24].map((count) => budget.take('shop', 'u-1', count))).to.deep.equal([undefined, undefined]);
    expect(budget.take('shop', 'u-1', 2)).to.match(/^the networks of the Pod change too often.* in 20 s\. Change them/);
    expect(budget.take('shop', 'u-2', 1)).to.equal(undefined);
    seconds = 20;
    expect(budget.take('shop', 'u-1', 2)).to.equal(undefined);
    expect(budget.take('shop', 'u-1', 1)).to.contain('in 10 s');
  });

  it('limits all Pods and IPAMClaims of a namespace together, and no others', () => {
    for (const uid of ['u-1', 'u-2', undefined]) expect(budget.take('shop', uid, 33)).to.equal(undefined);
    expect(budget.take('shop', 'u-3', 3)).to.match(/^namespace shop requests addresses too often.* in 1 s/);
    expect(budget.take('bank', 'u-4', 3)).to.equal(undefined);
    seconds = 1;
    expect(budget.take('shop', 'u-3', 3)).to.equal(undefined);
  });

  it('takes nothing for a request that is not granted, or that the allocator refuses', () => {
    for (let index = 0; index < 100; index++) {
      expect(budget.take('shop', 'u-1', 49)).to.be.a('string');
      expect(budget.take('shop', 'u-1', 48)).to.equal(undefined);
      budget.giveBack('shop', 'u-1', 48);
    }
    expect(budget.take('shop', 'u-2', 48)).to.equal(undefined);
  });

  it('keeps the budget of a Pod that uses it while many others appear', () => {
    budget = new EventBudget({ perSecond: 0, burst: 1_000_000 }, () => 0);
    budget.take('shop', 'u-1', 48);
    for (let index = 0; index < 50_000; index++) {
      budget.take('shop', `other-${index}`, 1);
      if (index % 5_000 === 0) expect(budget.take('shop', 'u-1', 1)).to.be.a('string');
    }
  });
});
