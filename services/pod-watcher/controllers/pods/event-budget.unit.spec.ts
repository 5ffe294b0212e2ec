import { expect } from 'chai';
import { EventBudget } from './event-budget.ts';

describe('EventBudget', () => {
  let seconds: number;
  let budget: EventBudget;
  beforeEach(() => {
    seconds = 0;
    budget = new EventBudget({ perSecond: 2, burst: 100 }, () => seconds * 1_000);
  });

  /** Spends as much as fits. */
  const take = (namespace: string, uid: string | undefined, count: number): string | undefined => {
    const refusal = budget.refusalOf(namespace, uid, count);
    if (refusal === undefined) budget.spend(namespace, uid, count);
    return refusal;
  };

  it('EventBudget grants a Pod its burst at once, then its rate, and states the time until the next address', () => {
    expect([24, 24].map((count) => take('shop', 'u-1', count))).to.deep.equal([undefined, undefined]);
    expect(take('shop', 'u-1', 2)).to.match(/^the networks of the Pod change too often.* in 20 s\. Change them/);
    expect(take('shop', 'u-2', 1)).to.equal(undefined);
    seconds = 20;
    expect(take('shop', 'u-1', 2)).to.equal(undefined);
    expect(take('shop', 'u-1', 1)).to.contain('the next address is requested in 10 s');
    seconds = 29.5;
    expect(take('shop', 'u-1', 1)).to.contain('the next address is requested in 1 s');
  });

  it('EventBudget limits all Pods and IPAMClaims of a namespace together, and no others', () => {
    for (const uid of ['u-1', 'u-2', undefined]) expect(take('shop', uid, 33)).to.equal(undefined);
    expect(take('shop', 'u-3', 3)).to.match(/^namespace shop requests addresses too often.* in 1 s/);
    expect(take('bank', 'u-4', 3)).to.equal(undefined);
    seconds = 1;
    expect(take('shop', 'u-3', 3)).to.equal(undefined);
  });

  it('EventBudget subtracts nothing for a request that is refused or has no answer', () => {
    for (let index = 0; index < 100; index++) {
      expect(budget.refusalOf('shop', 'u-1', 49)).to.be.a('string');
      expect(budget.refusalOf('shop', 'u-1', 48)).to.equal(undefined);
    }
    expect(take('shop', 'u-1', 48)).to.equal(undefined);
  });

  it('EventBudget grants a namespace 20,000 addresses at once, and then 20 per second, unless it is configured otherwise', () => {
    budget = new EventBudget(undefined, () => seconds * 1_000);
    expect(take('shop', undefined, 20_001)).to.be.a('string');
    expect(take('shop', undefined, 20_000)).to.equal(undefined);
    seconds = 1;
    expect(take('shop', undefined, 21)).to.be.a('string');
    expect(take('shop', undefined, 20)).to.equal(undefined);
  });

  it('EventBudget keeps the budget of a Pod that uses it while many other Pods appear', () => {
    budget = new EventBudget({ perSecond: 0, burst: 1_000_000 }, () => 0);
    take('shop', 'u-1', 48);
    for (let index = 0; index < 50_000; index++) {
      take('shop', `other-${index}`, 1);
      if (index % 5_000 === 0) expect(take('shop', 'u-1', 1)).to.be.a('string');
    }
    expect(budget.podCount).to.equal(10_000);
  });

  it('EventBudget drops the budget of a Pod when it is full again', () => {
    budget = new EventBudget({ perSecond: 0, burst: 1_000_000 }, () => seconds * 1_000);
    for (let index = 0; index < 100; index++) take('shop', `u-${index}`, 1);
    expect(budget.podCount).to.equal(100);
    seconds = 10;
    take('shop', 'another', 48);
    expect(budget.podCount).to.equal(1);
    take('shop', 'last', 1);
    expect(budget.podCount).to.equal(2);
    expect(take('shop', 'another', 1)).to.be.a('string');
  });

  it('EventBudget keeps the budget of a namespace that is nearly full while another namespace uses its own', () => {
    for (let index = 0; index < 100; index++)
      for (const namespace of ['shop', 'bank']) expect(take(namespace, undefined, 1), `${index}`).to.equal(undefined);
    expect(take('shop', undefined, 1)).to.be.a('string');
  });
});
