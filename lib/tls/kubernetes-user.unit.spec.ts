import { expect } from 'chai';
import { identityIn, parseIdentity } from './identity.ts';
import { kubernetesIdentity, parseKubernetesIdentity } from './kubernetes-user.ts';

describe('The identity of a Kubernetes user', () => {
  for (const [username, uri] of [
    ['alice@example.org', 'kubernetes:alice@example.org'],
    ['system:serviceaccount:ci:deploy', 'kubernetes:system:serviceaccount:ci:deploy'],
    ['https://issuer.example/#alice', 'kubernetes:https://issuer.example/#alice'],
    ['Anna Müller', 'kubernetes:Anna%20M%C3%BCller'],
    ['100%', 'kubernetes:100%25'],
    ['a\n,"\\\u{1F600}', 'kubernetes:a%0A%2C%22%5C%F0%9F%98%80'],
    ['ipledger://agent/node-1', 'kubernetes:ipledger://agent/node-1'],
  ] as const)
    it(`the identity of the Kubernetes user ${JSON.stringify(username)} is ${uri}, even after it was forwarded`, () => {
      const identity = kubernetesIdentity(username);
      expect(identity).to.include({ kind: 'kubernetes-user', uri });
      expect(parseKubernetesIdentity(uri)).to.deep.equal(identity);
      expect(parseIdentity(uri)).to.equal(undefined);
    });

  it('The identity of a Kubernetes user differs for names that differ only in encoded characters', () => {
    const names = ['a b', 'a%20b', 'a+b', 'a\tb', 'a\u00A0b'];
    expect(new Set(names.map((name) => kubernetesIdentity(name)?.uri)).size).to.equal(names.length);
  });

  it('a Kubernetes user has no identity with an empty name, or a name that is too long to be recorded', () => {
    expect(kubernetesIdentity('')).to.equal(undefined);
    expect(kubernetesIdentity('a'.repeat(512))).to.not.equal(undefined);
    expect(kubernetesIdentity('a'.repeat(513))).to.equal(undefined);
    expect(kubernetesIdentity('ü'.repeat(86)), 'each has 6 characters').to.equal(undefined);
  });

  for (const text of [
    'kubernetes:',
    'kubernetes:a b',
    'kubernetes:a,b',
    'kubernetes:%',
    'kubernetes:%zz',
    `kubernetes:${'a'.repeat(513)}`,
    ' kubernetes:a',
    'kubernetes:a\n',
  ])
    it(`The identity of a Kubernetes user is not parsed from ${JSON.stringify(text.slice(0, 30))}`, () => {
      expect(parseKubernetesIdentity(text)).to.equal(undefined);
    });

  it('The identity of a Kubernetes user is in no certificate', () => {
    expect(() => identityIn('URI:kubernetes:alice')).to.throw('it has none');
    expect(() => identityIn('URI:ipledger://kubernetes-user/alice')).to.throw('it has ipledger://kubernetes-user');
  });
});
