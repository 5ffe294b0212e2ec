import { expect } from 'chai';
import { statefulSetOrdinal } from '../../../../lib/kubernetes/stateful-set.ts';
import { toPod } from '../../kubernetes/objects/pod.ts';
import { toStatefulSet } from '../../kubernetes/objects/stateful-set.ts';
import { ownerOf, memberReleaseReason } from './pod-owner.ts';

function pod(name: string, apiVersion: string, kind: string, owner = 'web') {
  const reference = { apiVersion, kind, name: owner, uid: 'o', controller: true };
  const otherReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' };
  return toPod({ metadata: { name, namespace: 'n', uid: 'u', ownerReferences: [otherReference, reference] } });
}

describe('the owner of a Pod', () => {
  it('the owner of a Pod is its owner reference that is marked as controller', () => {
    expect(ownerOf(pod('web-1', 'apps/v1', 'StatefulSet'))).to.deep.equal({
      kind: 'StatefulSet',
      name: 'web',
      uid: 'o',
    });
    expect(ownerOf(toPod({ metadata: { name: 'p', namespace: 'n', uid: 'u' } }))).to.equal(undefined);
  });

  it('KO-6085 the owner of a Pod has its API group in its kind, unless that is Kubernetes’ own group', () => {
    expect(ownerOf(pod('web-1', 'apps.kruise.io/v1beta1', 'StatefulSet'))?.kind).to.equal('StatefulSet.apps.kruise.io');
  });

  it('the owner of a Pod gives an ordinal only to members of a StatefulSet', () => {
    const member = (each: ReturnType<typeof pod>) => statefulSetOrdinal(each, ownerOf(each));
    expect(member(pod('web-12', 'apps/v1', 'StatefulSet'))).to.equal(12);
    expect(member(pod('web-x', 'apps/v1', 'StatefulSet'))).to.equal(undefined);
    expect(member(pod('other-1', 'apps/v1', 'StatefulSet'))).to.equal(undefined);
    expect(member(pod('web-1', 'apps/v1', 'ReplicaSet'))).to.equal(undefined);
    expect(member(pod('web-1', 'apps.kruise.io/v1beta1', 'StatefulSet'))).to.equal(undefined);
  });
});

describe('a member of a StatefulSet', () => {
  const owner = { kind: 'StatefulSet', name: 'web', uid: 'o' };
  const set = (spec: object, metadata: object = {}) =>
    toStatefulSet({ metadata: { name: 'web', namespace: 'n', uid: 'o', ...metadata }, spec });
  const releaseReason = (member: number, of: ReturnType<typeof set> | undefined) =>
    memberReleaseReason(of, owner, member);

  it('a member of a StatefulSet is created again while its ordinal is below the replicas, by default 1', () => {
    expect(releaseReason(4, set({ replicas: 5 }))).to.equal(undefined);
    expect(releaseReason(0, set({}))).to.equal(undefined);
    for (const [member, replicas] of [
      [5, 5],
      [0, 0],
    ] as const)
      expect(releaseReason(member, set({ replicas }))).to.deep.equal({
        cause: 'RELEASE_CAUSE_SCALED_DOWN',
        evidence: `StatefulSet web (uid o) has ${replicas} replicas, and so no member ${member}`,
      });
  });

  it('a member of a StatefulSet is counted from the first ordinal', () => {
    const from3 = set({ replicas: 2, ordinals: { start: 3 } });
    expect([2, 3, 4, 5].map((member) => releaseReason(member, from3)?.cause)).to.deep.equal([
      'RELEASE_CAUSE_SCALED_DOWN',
      undefined,
      undefined,
      'RELEASE_CAUSE_SCALED_DOWN',
    ]);
    expect(releaseReason(2, from3)?.evidence).to.contain('has 2 replicas from ordinal 3 on');
  });

  it('a member of a StatefulSet is not created again if the StatefulSet is deleted, being deleted, or replaced', () => {
    const deleting = set({}, { deletionTimestamp: '2026-01-31T08:00:00Z' });
    for (const [of, evidence] of [
      [undefined, 'there is no StatefulSet web (uid o)'],
      [set({}, { uid: 'p' }), 'there is no StatefulSet web (uid o): the name belongs to uid p now'],
      [deleting, 'StatefulSet web (uid o) is being deleted'],
    ] as const)
      expect(releaseReason(0, of)).to.deep.equal({ cause: 'RELEASE_CAUSE_OWNER_DELETED', evidence });
  });
});
