import { expect } from 'chai';
import { ClusterHealth } from './cluster-health.ts';

describe('ClusterHealth', () => {
  const endpoints = ['one', 'two', 'three'];
  const answers = (health: ClusterHealth): boolean[] => health.members.map((member) => member.answers);

  /** Probes each member at a time; those with a delay answer after it. */
  function probe(health: ClusterHealth, at: number, delays: readonly (number | undefined)[]): void {
    for (const index of delays.keys()) health.onSent(index, at);
    for (const [index, ms] of delays.entries()) if (ms !== undefined) health.onAnswered(index, at + ms);
  }

  it('counts each member as answering before the first probe', () => {
    expect(answers(new ClusterHealth(endpoints))).to.deep.equal([true, true, true]);
  });

  it('loses a member whose probe is late while later probes of others are answered, until it answers again', () => {
    const health = new ClusterHealth(endpoints);
    const signal = health.lost(2);
    probe(health, 0, [1, 1, undefined]);
    for (const at of [200, 400, 590]) probe(health, at, [1, 1]);
    expect(answers(health), 'before it is late').to.deep.equal([true, true, true]);
    probe(health, 600, [1, 1]);
    expect(answers(health)).to.deep.equal([true, true, false]);
    expect(signal.reason).to.have.property('message', 'three is silent, and other members of etcd answer');
    expect(health.order(700).at(-1)).to.equal(2);
    health.onAnswered(2, 900);
    expect(health.lost(2).aborted).to.equal(false);
  });

  it('loses no member while all are slow', () => {
    const health = new ClusterHealth(endpoints);
    for (const at of [0, 3_000, 6_000]) probe(health, at, [2_000, 2_100, 2_200]);
    expect(answers(health)).to.deep.equal([true, true, true]);
  });

  it('loses a member whose probe fails, and orders it last', () => {
    const health = new ClusterHealth(endpoints);
    health.onSent(0, 0);
    health.onFailed(0, new Error('refused'));
    expect(answers(health)).to.deep.equal([false, true, true]);
    expect(health.order(1).at(-1)).to.equal(0);
  });

  it('orders a member with a delay of 300 ms after the others, also while its answer is missing', () => {
    const health = new ClusterHealth(endpoints);
    probe(health, 0, [1, 300, 2]);
    expect(health.order(400)[2]).to.equal(1);
    health.onAnswered(1, 401);
    probe(health, 600, [1, undefined, 2]);
    expect(health.order(700)[2]).to.equal(1);
  });

  it('orders all members when none answers', () => {
    const health = new ClusterHealth(endpoints);
    for (const index of endpoints.keys()) health.onFailed(index, new Error('refused'));
    expect(health.order(0)).to.have.members([0, 1, 2]);
  });
});
