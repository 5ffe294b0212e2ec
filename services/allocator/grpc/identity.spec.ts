import { expect } from 'chai';
import { identityOf } from './identity.ts';

const peer = (subjectaltname?: string) =>
  identityOf({
    getAuthContext: () => ({ sslPeerCertificate: subjectaltname === undefined ? undefined : { subjectaltname } }),
  } as unknown as Parameters<typeof identityOf>[0]);

describe('The identity of a caller', () => {
  for (const [names, identity] of [
    ['URI:ipledger://watcher', 'ipledger://watcher'],
    ['DNS:node-1, URI:ipledger://agent/node-1.example, IP Address:10.0.0.1', 'ipledger://agent/node-1.example'],
    ['URI:ipledger://operator/bob_admin', 'ipledger://operator/bob_admin'],
  ] as const)
    it(`is what the certificate's URI says: ${names}`, () => {
      expect(peer(names)).to.equal(identity);
    });

  for (const [why, names] of [
    ['without TLS', undefined],
    ['without a URI', 'DNS:watcher'],
    ['with somebody else’s URI', 'URI:spiffe://cluster.local/ns/a'],
    ['with more behind it than an identity has', 'URI:ipledger://operator/bob?admin'],
    ['with a DNS name that looks like one', 'DNS:"x, URI:ipledger://watcher"'],
    ['with two of them', 'URI:ipledger://watcher, URI:ipledger://agent/node-1'],
  ] as const)
    it(`is anonymous ${why}`, () => {
      expect(peer(names)).to.equal('anonymous');
    });
});
