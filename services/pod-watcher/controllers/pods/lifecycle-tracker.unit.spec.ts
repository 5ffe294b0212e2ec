import { expect } from 'chai';
import { mirrorOf, podNamed } from '../../testing/fakes.ts';
import { LifecycleTracker } from './lifecycle-tracker.ts';

/** Makes a Pod that another machine deleted, `behindMs` before the clock of this machine. */
const deletedPod = (name: string, { behindMs = 0, graceSeconds = 30 } = {}) =>
  podNamed(name, {
    metadata: {
      deletionTimestamp: new Date(Date.now() - behindMs).toISOString(),
      deletionGracePeriodSeconds: graceSeconds,
    },
  });

describe('the lifecycle tracker', () => {
  let now: number;
  const clock = () => now;
  beforeEach(() => (now = 5_000_000));

  it('the lifecycle tracker counts the time since it saw the deletion, and ignores the clocks of other machines', () => {
    for (const behindMs of [3_600_000, 0, -3_600_000]) {
      const tracker = new LifecycleTracker({}, clock);
      const pod = deletedPod('a', { behindMs });
      expect(tracker.lifecycleOf(pod)).to.deep.equal({ state: 'alive', endsInMs: 60_000 });
      now += 59_999;
      expect(tracker.lifecycleOf(pod).state).to.equal('alive');
      now += 1;
      expect(tracker.lifecycleOf(pod).state).to.equal('overdue');
    }
  });

  it('the lifecycle tracker counts from zero after a deletion with another grace period', () => {
    const tracker = new LifecycleTracker({}, clock);
    tracker.lifecycleOf(deletedPod('a'));
    now += 50_000;
    const sooner = deletedPod('a', { graceSeconds: 5 });
    expect(tracker.lifecycleOf(sooner)).to.deep.equal({ state: 'alive', endsInMs: 10_000 });
    now += 10_000;
    expect(tracker.lifecycleOf(sooner).state).to.equal('overdue');
  });

  it('the lifecycle tracker continues with the times of the previous watcher, and keeps an ended Pod ended', () => {
    const first = new LifecycleTracker({}, clock);
    const [early, late] = [deletedPod('early'), deletedPod('late')];
    first.lifecycleOf(early);
    now += 40_000;
    first.lifecycleOf(late);
    now += 20_000;
    expect(first.lifecycleOf(early).state).to.equal('overdue');
    const handover = first.terminating();
    now = 1; // the performance.now() of another process
    const next = new LifecycleTracker(handover, clock);
    expect(next.lifecycleOf(early).state).to.equal('overdue');
    expect(next.lifecycleOf(late)).to.deep.equal({ state: 'alive', endsInMs: 40_000 });
  });

  it('the lifecycle tracker hands over a bounded number of Pods, those that have terminated longest, and forgets deleted Pods', () => {
    const tracker = new LifecycleTracker({}, clock);
    for (let index = 0; index < 300; index++) tracker.lifecycleOf(deletedPod(`p${index}`));
    tracker.forget(deletedPod('p0'));
    const uids = Object.keys(tracker.terminating());
    expect([uids.length, uids[0], uids.at(-1)]).to.deep.equal([256, 'uid-p1', 'uid-p256']);
  });

  it('the lifecycle tracker orders Pods by their last deletion, and those of the previous watcher by theirs', () => {
    const tracker = new LifecycleTracker({ 'uid-a': [30, 3], 'uid-b': [30, 2] }, clock);
    for (const name of ['b', 'a', 'c']) tracker.lifecycleOf(deletedPod(name));
    expect(Object.keys(tracker.terminating())).to.deep.equal(['uid-a', 'uid-b', 'uid-c']);
    tracker.lifecycleOf(deletedPod('b', { graceSeconds: 5 }));
    expect(Object.keys(tracker.terminating())).to.deep.equal(['uid-a', 'uid-c', 'uid-b']);
  });

  it('the lifecycle tracker does not hand over Pods of the previous watcher that the API no longer has', () => {
    const tracker = new LifecycleTracker({ 'uid-gone': [30, 1], 'uid-a': [30, 1] }, clock);
    expect(Object.keys(tracker.terminating())).to.deep.equal(['uid-gone', 'uid-a']);
    tracker.lifecycleOf(deletedPod('a'));
    now += 600_000;
    expect(Object.keys(tracker.terminating())).to.deep.equal(['uid-a']);
  });

  it('the lifecycle tracker hands over no living Pod, and no mirror, whose static Pod continues to run', () => {
    const tracker = new LifecycleTracker({}, clock);
    const mirror = {
      ...mirrorOf('static', 'd41d8cd98f00b204e9800998ecf8427e'),
      deletionTimestamp: '2026-11-17T14:05:00Z',
    };
    for (const pod of [podNamed('living'), mirror])
      expect(tracker.lifecycleOf(pod)).to.deep.equal({ state: 'alive', endsInMs: undefined });
    expect(tracker.terminating()).to.deep.equal({});
  });

  it('the lifecycle tracker keeps a Pod ended until the API no longer has it, also if its object shows another state', () => {
    const tracker = new LifecycleTracker({}, clock);
    const spec = { restartPolicy: 'Never' };
    const [running, succeeded] = ['Running', 'Succeeded'].map((phase) => podNamed('job', { spec, status: { phase } }));
    if (!running || !succeeded) throw new Error('no Pods');
    tracker.lifecycleOf(succeeded);
    expect(tracker.lifecycleOf(running).state).to.equal('completed');
    const terminating = deletedPod('lost');
    tracker.lifecycleOf(terminating);
    now += 60_000;
    expect(tracker.lifecycleOf(terminating).state).to.equal('overdue');
    expect(tracker.lifecycleOf(deletedPod('lost', { graceSeconds: 600 })).state).to.equal('overdue');
    tracker.forget(running);
    expect(tracker.lifecycleOf(running).state).to.equal('alive');
  });
});
