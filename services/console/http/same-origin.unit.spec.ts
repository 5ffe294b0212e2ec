import { expect } from 'chai';
import { refuseOtherHosts, refuseOtherOrigins } from './same-origin.ts';

const own = { host: 'console.example:7480', origin: 'https://console.example:7480', 'x-ipledger-console': '1' };
const isRefused = (method: string, headers: Record<string, string>): boolean => {
  try {
    refuseOtherOrigins({ method, headers });
    return false;
  } catch {
    return true;
  }
};

describe('refuseOtherOrigins', () => {
  it('refuseOtherOrigins accepts requests of a page of the console, and reads by programs other than browsers', () => {
    expect(isRefused('POST', own)).to.equal(false);
    expect(isRefused('GET', { host: own.host })).to.equal(false);
    expect(isRefused('GET', { host: own.host, 'sec-fetch-site': 'none' })).to.equal(false);
  });

  it('refuseOtherOrigins refuses reads and actions of other sites', () => {
    for (const site of ['cross-site', 'same-site', 'unknown'])
      for (const method of ['GET', 'POST', 'DELETE'])
        expect(isRefused(method, { ...own, 'sec-fetch-site': site }), `${method} ${site}`).to.equal(true);
  });

  it('refuseOtherOrigins refuses an action of another origin, port or host, without an origin, and without the header', () => {
    for (const origin of [
      'https://attacker.example',
      'https://console.example',
      'null',
      'https://console.example:7480.attacker.example',
    ])
      expect(isRefused('POST', { ...own, origin }), origin).to.equal(true);
    const { origin: _origin, ...withoutOrigin } = own;
    const { 'x-ipledger-console': _header, ...withoutHeader } = own;
    expect([isRefused('POST', withoutOrigin), isRefused('DELETE', withoutHeader)]).to.deep.equal([true, true]);
  });

  it('refuseOtherOrigins refuses a read by a script of another origin, also of a browser that does not name the site', () => {
    expect(isRefused('GET', { host: own.host, origin: 'https://attacker.example' })).to.equal(true);
    expect(isRefused('HEAD', { host: own.host, origin: 'null' })).to.equal(true);
    expect(isRefused('GET', { host: own.host, origin: own.origin })).to.equal(false);
  });
});

describe('refuseOtherHosts', () => {
  it('refuseOtherHosts accepts loopback only, and no name that an attacker resolves to loopback', () => {
    for (const host of ['localhost:7480', '127.0.0.1:7480', '127.0.0.1', '[::1]:7480'])
      expect(() => refuseOtherHosts({ host }), host).to.not.throw();
    for (const host of [
      'attacker.example:7480',
      '127.0.0.1.attacker.example',
      'localhost.attacker.example',
      '',
      undefined,
    ])
      expect(() => refuseOtherHosts(host === undefined ? {} : { host }), String(host)).to.throw(/without sign-in/);
  });
});
