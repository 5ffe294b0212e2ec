/** Unit tests for the access to a cluster without @kubernetes/client-node. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { type ClusterAccess, readPlainAccess } from './cluster-access.ts';

describe('The access to a cluster', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'ipledger-access-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const kubeconfigOf = (cluster: object, user: object, name = 'config'): string =>
    write(
      name,
      stringify({
        clusters: [
          { name: 'other', cluster: { server: 'https://other' } },
          { name: 'c', cluster },
        ],
        users: [
          { name: 'u', user },
          { name: 'v', user: { token: 'of v' } },
        ],
        contexts: [
          { name: 'x', context: { cluster: 'c', user: 'u' } },
          { name: 'y', context: { cluster: 'other', user: 'v' } },
        ],
        'current-context': 'x',
      }),
    );
  const optionsOf = async (access: ClusterAccess | undefined): Promise<RequestOptions> => {
    const options: RequestOptions = {};
    await access?.applyToHTTPSOptions(options);
    return options;
  };
  const https = { server: 'https://10.0.0.1:6443/' };

  it('The access to a cluster has the certificates of the kubeconfig, from files beside it or embedded', async () => {
    write('ca.pem', 'authority');
    const user = { 'client-certificate-data': base64('certificate'), 'client-key-data': base64('key') };
    const kubeconfig = kubeconfigOf({ ...https, 'certificate-authority': 'ca.pem' }, user);
    const access = await readPlainAccess({ kubeconfig });
    expect(access?.getCurrentCluster()).to.deep.equal({ server: 'https://10.0.0.1:6443' });
    expect(await optionsOf(access)).to.deep.equal({
      ca: Buffer.from('authority'),
      cert: Buffer.from('certificate'),
      key: Buffer.from('key'),
    });
  });

  it('The access to a cluster has the token, the TLS server name and the disabled verification of the selected context', async () => {
    const cluster = { ...https, 'tls-server-name': 'api', 'insecure-skip-tls-verify': true };
    const kubeconfig = kubeconfigOf(cluster, { token: 'secret' });
    expect(await optionsOf(await readPlainAccess({ kubeconfig }))).to.deep.equal({
      servername: 'api',
      rejectUnauthorized: false,
      headers: { Authorization: 'Bearer secret' },
    });
    const other = await readPlainAccess({ kubeconfig, context: 'y' });
    expect(other?.getCurrentCluster()).to.deep.equal({ server: 'https://other' });
    expect(await optionsOf(other)).to.deep.equal({ headers: { Authorization: 'Bearer of v' } });
  });

  it('without a kubeconfig, the access is that of the ServiceAccount, with the renewed token', async () => {
    write('ca.crt', 'authority');
    write('token', 'first\n');
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443', HOME: folder };
    const access = await readPlainAccess({}, env, folder);
    expect(access?.getCurrentCluster()).to.deep.equal({ server: 'https://[fd00::1]:443' });
    const options = { ca: Buffer.from('authority'), headers: { Authorization: 'Bearer first' } };
    expect(await optionsOf(access)).to.deep.equal(options);
    write('token', 'second');
    expect((await optionsOf(access)).headers).to.deep.equal({ Authorization: 'Bearer second' });
  });

  it('@kubernetes/client-node reads a kubeconfig with any other feature, and an invalid one', async () => {
    const token = { token: 'secret' };
    const files = [
      kubeconfigOf(https, { exec: { command: 'login' } }, 'exec'),
      kubeconfigOf(https, { ...token, as: 'admin' }, 'impersonation'),
      kubeconfigOf(https, {}, 'anonymous'),
      kubeconfigOf({ ...https, 'proxy-url': 'http://proxy' }, token, 'proxy'),
      kubeconfigOf({ server: 'http://10.0.0.1' }, token, 'plaintext'),
      write('broken', '{'),
      join(folder, 'missing'),
      [kubeconfigOf(https, token, 'one'), kubeconfigOf(https, token, 'two')].join(':'),
    ];
    for (const KUBECONFIG of files) expect(await readPlainAccess({}, { KUBECONFIG }), KUBECONFIG).to.equal(undefined);
    expect(await readPlainAccess({ kubeconfig: files[0], context: 'z' })).to.equal(undefined);
    expect(await readPlainAccess({}, { HOME: folder }, folder)).to.equal(undefined);
  });
});
