import { expect } from 'chai';
import { toPod } from '../kubernetes/objects.ts';
import { lifeOf } from './life.ts';

const now = Date.parse('2026-11-17T14:05:00Z');
const life = (spec: object, status: object, metadata: object = {}) =>
  lifeOf(toPod({ metadata: { name: 'p', namespace: 'n', uid: 'u', ...metadata }, spec, status }), now);

describe('whether a Pod still needs its addresses', () => {
  const cases: [what: string, spec: object, status: object, state: string][] = [
    ['one that nobody scheduled yet does', {}, { phase: 'Pending' }, 'alive'],
    ['one on the node’s own network never did', { hostNetwork: true }, { phase: 'Running' }, 'host'],
    ['a finished Job does not', { restartPolicy: 'Never' }, { phase: 'Succeeded' }, 'completed'],
    [
      'a finished one that restarts on failure does not',
      { restartPolicy: 'OnFailure' },
      { phase: 'Succeeded' },
      'completed',
    ],
    ['one that is always restarted does', { restartPolicy: 'Always' }, { phase: 'Succeeded' }, 'alive'],
    ['a failed one that is never restarted does not', { restartPolicy: 'Never' }, { phase: 'Failed' }, 'completed'],
    ['a failed one that is restarted does', { restartPolicy: 'OnFailure' }, { phase: 'Failed' }, 'alive'],
    ['an evicted one does not', { restartPolicy: 'Always' }, { phase: 'Failed', reason: 'Evicted' }, 'completed'],
  ];
  for (const [what, spec, status, state] of cases) it(what, () => expect(life(spec, status).state).to.equal(state));

  it('does while it terminates, until a second grace period is over', () => {
    const spec = { terminationGracePeriodSeconds: 60 };
    const at = (deletionTimestamp: string) => life(spec, { phase: 'Running' }, { deletionTimestamp });
    expect(at('2026-11-17T14:04:30Z')).to.deep.equal({ state: 'alive', endsInMs: 30_000 });
    expect(at('2026-11-17T14:04:00Z')).to.deep.equal({ state: 'overdue' });
  });

  it('goes by the grace period of its deletion: a kubelet that has ended it deletes it once more, with none', () => {
    const spec = { terminationGracePeriodSeconds: 60 };
    const at = (deletionGracePeriodSeconds: number) =>
      life(spec, { phase: 'Running' }, { deletionTimestamp: '2026-11-17T14:04:59Z', deletionGracePeriodSeconds });
    expect(at(0)).to.deep.equal({ state: 'overdue' });
    expect(at(5)).to.deep.equal({ state: 'alive', endsInMs: 4_000 });
  });
});
