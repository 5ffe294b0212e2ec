import { expect } from 'chai';
import { toPod } from '../../kubernetes/objects/pod.ts';
import { podLifecycle } from './lifecycle-tracker.ts';

const deletionTimestamp = '2026-11-17T14:05:00Z';
const lifecycleOf = (spec: object, status: object, metadata: object = {}, seenForMs = 0) =>
  podLifecycle(toPod({ metadata: { name: 'p', namespace: 'n', uid: 'u', ...metadata }, spec, status }), seenForMs);

describe('the lifecycle of a Pod', () => {
  const cases: [what: string, spec: object, status: object, state: string][] = [
    ['is alive before it is scheduled', {}, { phase: 'Pending' }, 'alive'],
    ['is host on the network of the node', { hostNetwork: true }, { phase: 'Running' }, 'host'],
    ['is completed for a finished Job', { restartPolicy: 'Never' }, { phase: 'Succeeded' }, 'completed'],
    [
      'is completed if it succeeded and restarts on failure only',
      { restartPolicy: 'OnFailure' },
      { phase: 'Succeeded' },
      'completed',
    ],
    ['is alive if it always restarts', { restartPolicy: 'Always' }, { phase: 'Succeeded' }, 'alive'],
    ['is completed if it failed and never restarts', { restartPolicy: 'Never' }, { phase: 'Failed' }, 'completed'],
    ['is alive if it failed and restarts', { restartPolicy: 'OnFailure' }, { phase: 'Failed' }, 'alive'],
    [
      'is completed if it was evicted',
      { restartPolicy: 'Always' },
      { phase: 'Failed', reason: 'Evicted' },
      'completed',
    ],
  ];
  for (const [what, spec, status, state] of cases)
    it(`the lifecycle of a Pod ${what}`, () => expect(lifecycleOf(spec, status).state).to.equal(state));

  it('a terminating Pod is alive until twice its grace period has passed since the deletion was seen', () => {
    const spec = { terminationGracePeriodSeconds: 60 };
    const after = (seenForMs: number) => lifecycleOf(spec, { phase: 'Running' }, { deletionTimestamp }, seenForMs);
    expect(after(0)).to.deep.equal({ state: 'alive', endsInMs: 120_000 });
    expect(after(90_000)).to.deep.equal({ state: 'alive', endsInMs: 30_000 });
    expect(after(120_000)).to.deep.equal({ state: 'overdue' });
  });

  it('a Pod is overdue when the kubelet deletes it finally, with a grace period of 0', () => {
    const spec = { terminationGracePeriodSeconds: 60 };
    const at = (deletionGracePeriodSeconds: number) =>
      lifecycleOf(spec, { phase: 'Running' }, { deletionTimestamp, deletionGracePeriodSeconds });
    expect(at(0)).to.deep.equal({ state: 'overdue' });
    expect(at(5)).to.deep.equal({ state: 'alive', endsInMs: 10_000 });
  });

  it('a Pod that is not being deleted has no end in sight', () => {
    expect(lifecycleOf({}, { phase: 'Running' })).to.deep.equal({ state: 'alive', endsInMs: undefined });
  });
});
