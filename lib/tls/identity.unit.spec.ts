import { expect } from 'chai';
import { IpledgerError } from '../errors.ts';
import { identityIn, parseIdentity } from './identity.ts';

describe('Identity in a certificate', () => {
  for (const [names, kind, name] of [
    ['URI:ipledger://watcher', 'watcher', ''],
    ['URI:ipledger://viewer', 'viewer', ''],
    ['URI:ipledger://read-model', 'read-model', ''],
    ['URI:ipledger://ovn-projector', 'ovn-projector', ''],
    ['URI:ipledger://operator/bob_admin', 'operator', 'bob_admin'],
    ['URI:ipledger://allocator/a-1', 'allocator', 'a-1'],
    ['DNS:node-1, URI:ipledger://agent/node-1.example, IP Address:10.0.0.1', 'agent', 'node-1.example'],
    ['URI:spiffe://cluster.local/ns/a, URI:ipledger://watcher', 'watcher', ''],
  ] as const)
    it(`Identity in a certificate is read from its URI: ${names}`, () => {
      expect(identityIn(names)).to.include({ kind, name });
      expect(identityIn(names).uri).to.match(/^ipledger:/);
    });

  for (const [why, names] of [
    ['there are no alternative names', undefined],
    ['there is no URI', 'DNS:watcher'],
    ['the URI has another scheme', 'URI:spiffe://cluster.local/ns/a'],
    ['the URI has a query', 'URI:ipledger://operator/bob?admin'],
    ['a DNS name contains an identity', 'DNS:"x, URI:ipledger://watcher"'],
    ['there are two of them', 'URI:ipledger://watcher, URI:ipledger://agent/node-1'],
    ['there is a valid identity and an invalid one', 'URI:ipledger://watcher, URI:ipledger://root'],
    ['it is of a kind that does not exist', 'URI:ipledger://root'],
    ['an agent names no node', 'URI:ipledger://agent'],
    ['an agent names an empty node', 'URI:ipledger://agent/'],
    ['the watcher names something', 'URI:ipledger://watcher/a'],
  ] as const)
    it(`Identity in a certificate is rejected when ${why}`, () => {
      expect(() => identityIn(names))
        .to.throw(IpledgerError, 'the certificate must name exactly one of ipledger://agent/<node>')
        .with.property('code', 'UNAUTHENTICATED');
    });

  it('a certificate with several identities is rejected, and the error lists all of them', () => {
    expect(() => identityIn('URI:ipledger://watcher, URI:ipledger://viewer')).to.throw(
      'it has ipledger://watcher, ipledger://viewer',
    );
  });

  it('parseIdentity parses an identity from a text', () => {
    expect(parseIdentity('ipledger://agent/node-1')).to.deep.equal({
      kind: 'agent',
      name: 'node-1',
      uri: 'ipledger://agent/node-1',
    });
    expect(parseIdentity('anonymous')).to.equal(undefined);
  });
});
