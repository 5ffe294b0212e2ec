import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { cacheFolder } from '../paths.ts';
import { hostPort, readBearers, readSettings } from './settings.ts';

describe('what a user asks of `make up`', () => {
  const own = '/checkout/.cache/up/kubeconfig';
  it('is loopback, plaintext and a cluster of its own by default', () => {
    const certificates = join(cacheFolder, 'certs');
    const said = { nodes: undefined, tls: undefined, kubeconfig: undefined };
    const nothing = { ...said, listen: '127.0.0.1', certificates, yes: false };
    expect(readSettings({}, own)).to.deep.equal(nothing);
    const sourced = { KUBECONFIG: own, IPLEDGER_TLS_CA: '/of/an/operator' };
    expect(readSettings(sourced, own)).to.deep.equal(nothing);
  });

  it('is the user’s cluster when KUBECONFIG is another than ours', () => {
    expect(readSettings({ KUBECONFIG: '/home/me/.kube/config' }, own).kubeconfig).to.equal('/home/me/.kube/config');
  });

  for (const listen of ['0.0.0.0', '::', '192.0.2.10'])
    it(`is refused when LISTEN=${listen} without TLS, and taken with it`, () => {
      expect(() => readSettings({ LISTEN: listen }, own)).to.throw(/reachable from outside[^]*TLS=1/);
      expect(readSettings({ LISTEN: listen, TLS: '1' }, own).listen).to.equal(listen);
    });

  for (const listen of ['127.0.0.2', '::1', 'localhost'])
    it(`may say LISTEN=${listen} without TLS: nobody outside reaches it`, () => {
      expect(() => readSettings({ LISTEN: listen }, own)).not.to.throw();
    });

  it('is TLS when it is said, and plaintext when the contrary is', () => {
    expect(readSettings({ TLS: '1', CERTS: 'certs' }, own)).to.include({ tls: true, certificates: resolve('certs') });
    expect(readSettings({ TLS: '0' }, own).tls).to.equal(false);
    expect(() => readSettings({ TLS: 'yes' }, own)).to.throw('TLS=yes: want 1 or 0');
  });

  it('is certificates for one of each unless names are given', () => {
    expect(readBearers({})).to.deep.include({ allocators: ['allocator'], nodes: ['node-1'] });
    expect(readBearers({ NODES: '3' }).nodes).to.deep.equal(['node-1', 'node-2', 'node-3']);
    expect(readBearers({ NODES: 'worker-a, worker-b', ALLOCATORS: 'a b', OPERATORS: 'anna' })).to.deep.equal({
      allocators: ['a', 'b'],
      nodes: ['worker-a', 'worker-b'],
      operators: ['anna'],
    });
    expect(() => readBearers({ OPERATORS: 'anna?' })).to.throw('OPERATORS: "anna?" is no name');
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
