import { expect } from 'chai';
import { toPod } from '../kubernetes/objects.ts';
import { memberOf, ownerOf } from './owner.ts';

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

  it('is told from a namesake of another group', () => {
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
