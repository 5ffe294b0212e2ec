import { expect } from 'chai';
import type { Tls } from '../../tls/credentials.ts';
import { isInsecure, refuseInsecureListen } from './insecure.ts';

const plaintext = { tls: undefined, insecure: false };

describe('A server without TLS', () => {
  for (const listen of [
    '0.0.0.0:7411',
    '[::]:7411',
    '192.0.2.10:7411',
    '[2001:db8::1]:7411',
    'allocator:7411',
    ':7411',
  ])
    it(`A server without TLS refuses to listen on ${listen}, which other machines may reach, and names the remedies`, () => {
      expect(() => refuseInsecureListen({ ...plaintext, listen })).to.throw(
        /TLS is off.*IPLEDGER_TLS_CA.*127\.0\.0\.1.*--insecure/,
      );
    });

  for (const listen of ['127.0.0.1:7411', '127.1.2.3:0', '[::1]:7411', 'localhost:7411'])
    it(`A server without TLS listens on ${listen}, which only this machine can reach`, () => {
      expect(() => refuseInsecureListen({ ...plaintext, listen })).to.not.throw();
    });

  it('A server without TLS listens on any address with --insecure', () => {
    expect(() => refuseInsecureListen({ ...plaintext, listen: '0.0.0.0:7411', insecure: true })).to.not.throw();
  });

  it('A server without TLS accepts IPLEDGER_INSECURE=1 as --insecure, but no other value of the variable', () => {
    expect(isInsecure(undefined, { IPLEDGER_INSECURE: '1' })).to.equal(true);
    for (const value of ['', '0', 'false']) expect(isInsecure(undefined, { IPLEDGER_INSECURE: value })).to.equal(false);
    expect(isInsecure(true, {})).to.equal(true);
  });
});

describe('A server with TLS', () => {
  it('A server with TLS listens on any address', () => {
    expect(() =>
      refuseInsecureListen({ listen: '0.0.0.0:7411', tls: {} as NonNullable<Tls>, insecure: false }),
    ).to.not.throw();
  });
});
