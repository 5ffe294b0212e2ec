import { expect } from 'chai';
import { toPod, toStatefulSet } from '../kubernetes/objects.ts';
import { memberOf, ownerOf, whyNoMember } from './owner.ts';

function pod(name: string, apiVersion: string, kind: string, owner = 'web') {
  const reference = { apiVersion, kind, name: owner, uid: 'o', controller: true };
  const bystander = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' };
  return toPod({ metadata: { name, namespace: 'n', uid: 'u', ownerReferences: [bystander, reference] } });
}

describe('who controls a Pod', () => {
  it('is the one owner reference that says so', () => {
    expect(ownerOf(pod('web-1', 'apps/v1', 'StatefulSet'))).to.deep.equal({
      kind: 'StatefulSet',
      name: 'web',
      uid: 'o',
    });
    expect(ownerOf(toPod({ metadata: { name: 'p', namespace: 'n', uid: 'u' } }))).to.equal(undefined);
  });

  it('KO-6085 is told from a namesake of another group', () => {
    expect(ownerOf(pod('web-1', 'apps.kruise.io/v1beta1', 'StatefulSet'))?.kind).to.equal('StatefulSet.apps.kruise.io');
  });

  it('numbers the members of a StatefulSet, and nobody else', () => {
    const member = (each: ReturnType<typeof pod>) => memberOf(each, ownerOf(each));
    expect(member(pod('web-12', 'apps/v1', 'StatefulSet'))).to.equal(12);
    expect(member(pod('web-x', 'apps/v1', 'StatefulSet'))).to.equal(undefined);
    expect(member(pod('other-1', 'apps/v1', 'StatefulSet'))).to.equal(undefined);
    expect(member(pod('web-1', 'apps/v1', 'ReplicaSet'))).to.equal(undefined);
    expect(member(pod('web-1', 'apps.kruise.io/v1beta1', 'StatefulSet'))).to.equal(undefined);
  });
});

describe('whether a StatefulSet will have a member again', () => {
  const owner = { kind: 'StatefulSet', name: 'web', uid: 'o' };
  const set = (spec: object, metadata: object = {}) =>
    toStatefulSet({ metadata: { name: 'web', namespace: 'n', uid: 'o', ...metadata }, spec });
  const why = (member: number, of: ReturnType<typeof set> | undefined) => whyNoMember(of, owner, member);

  it('follows from how many it wants, one unless it says otherwise', () => {
    expect(why(4, set({ replicas: 5 }))).to.equal(undefined);
    expect(why(0, set({}))).to.equal(undefined);
    for (const [member, replicas] of [
      [5, 5],
      [0, 0],
    ] as const)
      expect(why(member, set({ replicas }))).to.deep.equal({
        cause: 'RELEASE_CAUSE_SCALED_DOWN',
        evidence: `StatefulSet web (uid o) wants ${replicas} replicas, and so no member ${member}`,
      });
  });

  it('counts from its first ordinal', () => {
    const from3 = set({ replicas: 2, ordinals: { start: 3 } });
    expect([2, 3, 4, 5].map((member) => why(member, from3)?.cause)).to.deep.equal([
      'RELEASE_CAUSE_SCALED_DOWN',
      undefined,
      undefined,
      'RELEASE_CAUSE_SCALED_DOWN',
    ]);
    expect(why(2, from3)?.evidence).to.contain('wants 2 replicas from ordinal 3 on');
  });

  it('is never when it is gone, being deleted, or another one', () => {
    const deleting = set({}, { deletionTimestamp: '2026-01-31T08:00:00Z' });
    for (const [of, evidence] of [
      [undefined, 'there is no StatefulSet web (uid o)'],
      [set({}, { uid: 'p' }), 'there is no StatefulSet web (uid o): the name belongs to uid p now'],
      [deleting, 'StatefulSet web (uid o) is being deleted'],
    ] as const)
      expect(why(0, of)).to.deep.equal({ cause: 'RELEASE_CAUSE_OWNER_DELETED', evidence });
  });
});
