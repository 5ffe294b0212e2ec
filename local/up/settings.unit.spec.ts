import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { cacheFolder } from '../../test/harness/paths.ts';
import { hostPort, readCertificateSubjects, readSettings } from './settings.ts';

describe('The settings of `make up`', () => {
  const own = '/checkout/.cache/up/kubeconfig';
  it('The settings of `make up` are loopback, plaintext and an own cluster by default', () => {
    const certificates = join(cacheFolder, 'certs');
    const unset = { nodes: undefined, tls: undefined, kubeconfig: undefined };
    const defaults = { ...unset, listen: '127.0.0.1', certificates, yes: false };
    expect(readSettings({}, own)).to.deep.equal(defaults);
    const sourced = { KUBECONFIG: own, IPLEDGER_TLS_CA: '/of/an/operator' };
    expect(readSettings(sourced, own)).to.deep.equal(defaults);
  });

  it('The settings of `make up` have the user’s cluster if KUBECONFIG is not that of `make up`', () => {
    expect(readSettings({ KUBECONFIG: '/home/me/.kube/config' }, own).kubeconfig).to.equal('/home/me/.kube/config');
  });

  for (const listen of ['0.0.0.0', '::', '192.0.2.10'])
    it(`The settings of \`make up\` are rejected with LISTEN=${listen} without TLS, and accepted with TLS`, () => {
      expect(() => readSettings({ LISTEN: listen }, own)).to.throw(/reachable from outside[^]*TLS=1/);
      expect(readSettings({ LISTEN: listen, TLS: '1' }, own).listen).to.equal(listen);
    });

  for (const listen of ['127.0.0.2', '::1', 'localhost'])
    it(`The settings of \`make up\` are accepted with LISTEN=${listen} without TLS, because it is loopback`, () => {
      expect(() => readSettings({ LISTEN: listen }, own)).not.to.throw();
    });

  it('The settings of `make up` have TLS with TLS=1, and plaintext with TLS=0', () => {
    expect(readSettings({ TLS: '1', CERTS: 'certs' }, own)).to.include({ tls: true, certificates: resolve('certs') });
    expect(readSettings({ TLS: '0' }, own).tls).to.equal(false);
    expect(() => readSettings({ TLS: 'yes' }, own)).to.throw('TLS=yes: set 1 or 0');
  });

  it('The settings of `make up` have one subject of each kind unless names are set', () => {
    expect(readCertificateSubjects({})).to.deep.include({ allocators: ['allocator'], nodes: ['node-1'] });
    expect(readCertificateSubjects({ NODES: '3' }).nodes).to.deep.equal(['node-1', 'node-2', 'node-3']);
    expect(
      readCertificateSubjects({ NODES: 'worker-a, worker-b', ALLOCATORS: 'a b', OPERATORS: 'anna' }),
    ).to.deep.equal({
      allocators: ['a', 'b'],
      nodes: ['worker-a', 'worker-b'],
      operators: ['anna'],
    });
    expect(() => readCertificateSubjects({ OPERATORS: 'anna?' })).to.throw('OPERATORS: "anna?" is no valid name');
  });

  for (const nodes of ['0', '65', '2.5', 'two'])
    it(`The settings of \`make up\` are rejected with NODES=${nodes}`, () => {
      expect(() => readSettings({ NODES: nodes }, own)).to.throw(`NODES=${nodes}: set a number`);
    });

  it('The settings of `make up` write an IPv6 address in brackets before a port', () => {
    expect(hostPort('::1', 80)).to.equal('[::1]:80');
    expect(hostPort('127.0.0.1', 80)).to.equal('127.0.0.1:80');
  });
});
