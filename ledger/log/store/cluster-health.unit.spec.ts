import { expect } from 'chai';
import { ClusterHealth } from './cluster-health.ts';

describe('ClusterHealth', () => {
  const endpoints = ['one', 'two', 'three'];
  const answers = (health: ClusterHealth): boolean[] => health.members.map((member) => member.answers);

  /** Probes each member at a time. Members with a delay answer after it; the others do not. */
  function probe(health: ClusterHealth, at: number, delays: readonly (number | undefined)[]): void {
    for (const index of delays.keys()) health.onSent(index, at);
    for (const [index, ms] of delays.entries()) if (ms !== undefined) health.onAnswered(index, at + ms, 1);
  }

  it('ClusterHealth counts each member as answering before the first probe', () => {
    expect(answers(new ClusterHealth(endpoints))).to.deep.equal([true, true, true]);
  });

  it('ClusterHealth marks a member as lost while its probe is late and other members answer later probes', () => {
    const health = new ClusterHealth(endpoints);
    const signal = health.lost(2);
    probe(health, 0, [1, 1, undefined]);
    for (const at of [200, 400, 590]) probe(health, at, [1, 1]);
    expect(answers(health), 'before it is late').to.deep.equal([true, true, true]);
    probe(health, 600, [1, 1]);
    expect(answers(health)).to.deep.equal([true, true, false]);
    expect(signal.reason).to.have.property('message', 'three is silent, and other members of etcd answer');
    expect(health.order(700).at(-1)).to.equal(2);
    health.onAnswered(2, 900, 1);
    expect(health.lost(2).aborted).to.equal(false);
  });

  it('ClusterHealth marks a member as lost 600 ms after its probe, if another one answers a probe of 300 ms after it', () => {
    for (const [sentAt, answeredAt, isLost] of [
      [1_300, 1_599, false],
      [1_299, 1_600, false],
      [1_300, 1_600, true],
    ] as const) {
      const health = new ClusterHealth(endpoints);
      health.onSent(2, 1_000);
      health.onSent(0, sentAt);
      health.onAnswered(0, answeredAt, 1);
      expect(health.lost(2).aborted, `${sentAt} to ${answeredAt}`).to.equal(isLost);
    }
  });

  it('ClusterHealth marks no member as lost while all are slow', () => {
    const health = new ClusterHealth(endpoints);
    for (const at of [0, 3_000, 6_000]) probe(health, at, [2_000, 2_100, 2_200]);
    expect(answers(health)).to.deep.equal([true, true, true]);
  });

  it('ClusterHealth marks a member as lost when its probe fails, and orders it last', () => {
    const health = new ClusterHealth(endpoints);
    health.onSent(0, 0);
    health.onFailed(0, new Error('refused'));
    expect(answers(health)).to.deep.equal([false, true, true]);
    expect(health.order(1).at(-1)).to.equal(0);
  });

  it('ClusterHealth orders a member with a delay of 300 ms last, even before its answer arrives', () => {
    const health = new ClusterHealth(endpoints);
    probe(health, 0, [1, 300, 2]);
    expect(health.order(400)[2]).to.equal(1);
    health.onAnswered(1, 401, 1);
    probe(health, 600, [1, undefined, 2]);
    expect(health.order(700)[2]).to.equal(1);
  });

  it('ClusterHealth takes a member for slow if it needs over twice the time of the fastest one, and 25 ms more', () => {
    const random = Math.random;
    try {
      // The random order would be: three, two, one
      let left = 1;
      Math.random = () => (left -= 0.01);
      const health = new ClusterHealth(endpoints);
      probe(health, 5_000, [10, 45, 46]);
      expect(health.order(5_100)).to.deep.equal([1, 0, 2]);
      health.onSent(0, 5_100);
      expect(health.order(5_101), 'while its next probe is in flight').to.deep.equal([1, 0, 2]);
    } finally {
      Math.random = random;
    }
  });

  const ended = (ends: readonly AbortSignal[]): string[] =>
    ends.flatMap(({ aborted, reason }) => (aborted ? [(reason as Error).message] : []));

  it('ClusterHealth ends calls at all members once when a member answers with a later term', () => {
    const health = new ClusterHealth(endpoints);
    const calls = endpoints.flatMap((_, index) => health.callEnds(index));
    health.onAnswered(0, 1, 7);
    health.onAnswered(1, 2, 7);
    expect(ended(calls), 'the first answer').to.deep.equal([]);
    health.onAnswered(0, 3, 8);
    const reason = 'etcd has elected a leader since, and may have lost the request';
    expect(ended(calls)).to.deep.equal([reason, reason, reason]);
    const later = health.callEnds(2);
    health.onAnswered(1, 4, 8);
    health.onAnswered(2, 5, 7);
    expect(ended(later), 'answers of the same and of an earlier term').to.deep.equal([]);
    const first = new ClusterHealth(endpoints);
    const call = first.callEnds(0);
    for (const term of [1, 2]) first.onAnswered(0, term, term);
    expect(ended(call), 'the second term').to.deep.equal([reason]);
  });

  it('ClusterHealth ends a call at a lost member when a member answers again, and no other call', () => {
    const health = new ClusterHealth(endpoints);
    const before = health.callEnds(2);
    for (const index of [0, 1]) health.onFailed(index, new Error('refused'));
    const toLost = health.callEnds(0);
    health.onAnswered(2, 1, 1);
    expect(ended(toLost), 'a member that was not lost').to.deep.equal([]);
    health.onAnswered(1, 2, 1);
    expect(ended(toLost)).to.deep.equal(['a member of etcd answers again']);
    expect(ended(health.callEnds(0)), 'a later call').to.deep.equal([]);
    expect(ended(before)).to.deep.equal([]);
  });

  it('ClusterHealth orders all members when none answers', () => {
    const health = new ClusterHealth(endpoints);
    for (const index of endpoints.keys()) health.onFailed(index, new Error('refused'));
    expect(health.order(0)).to.have.members([0, 1, 2]);
  });
});
