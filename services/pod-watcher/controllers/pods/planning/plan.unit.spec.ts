import { expect } from 'chai';
import { annotationKey, planOf, statefulSet } from './testing/plan.fixture.ts';

describe('the plan for a Pod', () => {
  it('the plan for a Pod names all problems, and has no requests if one attachment cannot be served', () => {
    const { attachments, problems } = planOf('macvlan,missing,broken');
    expect(attachments).to.deep.equal([]);
    expect(problems).to.have.length(2);
  });

  it('the plan for a Pod counts the members of a StatefulSet from its first ordinal', () => {
    const pool = { [annotationKey('ip_pool')]: '10.0.0.1,10.0.0.2,10.0.0.3' };
    const late = (name: string) => ({ owner: { ...statefulSet, name } });
    expect(planOf('macvlan', pool, late('late')).problems[0]?.text).to.equal(
      `NoAvailableAddress: ${annotationKey('ip_pool')} has 3 entries, none for member 1 of the StatefulSet, whose first member is 5`,
    );
    expect(planOf('macvlan', pool, late('unknown')).problems).to.deep.equal([
      { about: 'cluster', text: 'StatefulSet unknown is not observed yet: the Pod waits for it' },
    ]);
    expect(planOf('macvlan', { [annotationKey('ip_pool')]: 'pool-1' }, late('unknown')).problems).to.deep.equal([]);
  });
});
