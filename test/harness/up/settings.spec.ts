import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { hostPort, readSettings } from './settings.ts';

describe('what a user asks of `make up`', () => {
  const own = '/checkout/.cache/up/kubeconfig';
  let folder: string;
  let tls: Record<string, string>;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-settings-'));
    const file = (name: string): string => {
      writeFileSync(join(folder, name), '');
      return join(folder, name);
    };
    tls = { IPLEDGER_TLS_CA: file('ca'), IPLEDGER_TLS_CERT: file('cert'), IPLEDGER_TLS_KEY: file('key') };
  });
  after(() => rmSync(folder, { recursive: true }));

  it('is loopback, plaintext and a cluster of its own by default', () => {
    const nothing = { nodes: undefined, listen: '127.0.0.1', tls: undefined, kubeconfig: undefined, yes: false };
    expect(readSettings({}, own)).to.deep.equal(nothing);
    const sourced = { KUBECONFIG: own, IPLEDGER_TLS_CA: '', IPLEDGER_TLS_CERT: '', IPLEDGER_TLS_KEY: '' };
    expect(readSettings(sourced, own)).to.deep.equal(nothing);
  });

  it('is the user’s cluster when KUBECONFIG is another than ours', () => {
    expect(readSettings({ KUBECONFIG: '/home/me/.kube/config' }, own).kubeconfig).to.equal('/home/me/.kube/config');
  });

  for (const listen of ['0.0.0.0', '::', '192.0.2.10'])
    it(`is refused when LISTEN=${listen} without TLS, and taken with it`, () => {
      expect(() => readSettings({ LISTEN: listen }, own)).to.throw(/reachable from outside[^]*IPLEDGER_TLS_CA/);
      expect(readSettings({ LISTEN: listen, ...tls }, own).listen).to.equal(listen);
    });

  for (const listen of ['127.0.0.2', '::1', 'localhost'])
    it(`may say LISTEN=${listen} without TLS: nobody outside reaches it`, () => {
      expect(() => readSettings({ LISTEN: listen }, own)).not.to.throw();
    });

  it('is refused with half of TLS, or files that are not there', () => {
    expect(() => readSettings({ IPLEDGER_TLS_CA: '/ca' }, own)).to.throw('set all three');
    expect(() => readSettings({ ...tls, IPLEDGER_TLS_KEY: '/nowhere' }, own)).to.throw('no file /nowhere');
  });

  for (const nodes of ['0', '65', '2.5', 'two'])
    it(`is refused with NODES=${nodes}`, () => {
      expect(() => readSettings({ NODES: nodes }, own)).to.throw(`NODES=${nodes}: want a number`);
    });

  it('puts an IPv6 address in brackets before a port', () => {
    expect(hostPort('::1', 80)).to.equal('[::1]:80');
    expect(hostPort('127.0.0.1', 80)).to.equal('127.0.0.1:80');
  });
});
