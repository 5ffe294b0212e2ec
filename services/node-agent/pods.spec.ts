import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IpledgerError } from '../../lib/errors.ts';
import { kubernetesApi, identifyBy } from './pods.ts';

const pod = { podNamespace: 'default', podName: 'p' };
const signal = new AbortController().signal;

const answering = (status: number, body: unknown) =>
  identifyBy(() => Promise.resolve({ status, body: typeof body === 'string' ? body : JSON.stringify(body) }));

async function refusal(work: Promise<unknown>): Promise<IpledgerError> {
  const outcome: unknown = await work.catch((error: unknown) => error);
  expect(outcome).to.be.instanceOf(IpledgerError);
  return outcome as IpledgerError;
}

describe('as whom the ledger knows a Pod', () => {
  const identified = async (metadata: object) => answering(200, { metadata })(pod, signal);

  it('is its name and its metadata.uid', async () => {
    expect(await identified({ uid: 'u-1' })).to.deep.equal({ name: 'p', uid: 'u-1', podUid: 'u-1' });
  });

  it('of a static Pod is the hash that its mirror tells', async () => {
    const hash = 'd41d8cd98f00b204e9800998ecf8427e';
    const annotations = { 'kubernetes.io/config.mirror': hash, 'kubernetes.io/config.hash': hash };
    expect(await identified({ uid: 'u-1', annotations })).to.include({ uid: hash, podUid: 'u-1' });
  });

  describe('of a Pod that names a virtual machine as its controller', () => {
    const machine = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm1', uid: 'u-of-vm1' };
    const claiming = { uid: 'u-1', ownerReferences: [{ ...machine, controller: true }] };
    /** The API with this instance; a number is the HTTP status. */
    const identify = (instance: object | number, podName = 'virt-launcher-vm1-x') => {
      const paths: string[] = [];
      const get = (path: string) => {
        paths.push(path);
        if (path.includes('/pods/'))
          return Promise.resolve({ status: 200, body: JSON.stringify({ metadata: claiming }) });
        if (typeof instance === 'number') return Promise.resolve({ status: instance, body: '' });
        return Promise.resolve({ status: 200, body: JSON.stringify(instance) });
      };
      return { paths, answer: identifyBy(get)({ podNamespace: 'default', podName }, signal) };
    };
    const metadata = { uid: 'u-of-vm1' };

    it('is the machine, where that is there and lists it', async () => {
      const { paths, answer } = identify({ metadata, status: { activePods: { 'u-1': 'node-1' } } });
      expect(await answer).to.deep.equal({ name: 'vm1', uid: 'u-of-vm1', podUid: 'u-1' });
      expect(paths[1]).to.equal('/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/vm1');
    });

    it('is nobody, where the machine is not there or is another one: it never gets the address of that machine', async () => {
      for (const instance of [404, { metadata: { uid: 'u-other' } }]) {
        const error = await refusal(identify(instance).answer);
        expect(error.code).to.equal('NOT_ALLOCATED');
        expect(error.message).to.contain('names VirtualMachineInstance vm1 (uid u-of-vm1) as its controller');
      }
    });

    it('is asked for again while the machine does not list it, or cannot be read', async () => {
      const unlisted = { metadata, status: { activePods: { 'u-2': 'node-1' } } };
      for (const instance of [unlisted, 503])
        expect(await refusal(identify(instance).answer)).to.include({ kind: 'transient' });
      expect(await refusal(identify(403).answer)).to.include({ kind: 'invalid' });
    });

    it('is its own where it is not called as KubeVirt calls its Pods', async () => {
      const { paths, answer } = identify({ metadata }, 'mine');
      expect(await answer).to.deep.equal({ name: 'mine', uid: 'u-1', podUid: 'u-1' });
      expect(paths).to.have.length(1);
    });
  });

  it('is asked for by one path, with names that can’t leave it', async () => {
    const paths: string[] = [];
    const identify = identifyBy((path) => {
      paths.push(path);
      return Promise.resolve({ status: 200, body: '{"metadata":{"uid":"u-1"}}' });
    });
    await identify({ podNamespace: 'a', podName: '../secrets/x?y' }, signal);
    expect(paths).to.deep.equal(['/api/v1/namespaces/a/pods/..%2Fsecrets%2Fx%3Fy']);
  });

  it('is unknown, in Kube-OVN’s words, when there is no such Pod', async () => {
    const error = await refusal(answering(404, { kind: 'Status' })(pod, signal));
    expect(error).to.include({ httpStatus: 500, message: 'get pod default/p failed pod "p" not found' });
    expect(error.kind).to.not.equal('transient');
  });

  it('may be asked for again when the API has trouble, and not when it forbids', async () => {
    expect(await refusal(answering(503, '')(pod, signal))).to.include({ kind: 'transient' });
    const broken = identifyBy(() => Promise.reject(new Error('connect ECONNREFUSED 127.0.0.1:1')));
    const error = await refusal(broken(pod, signal));
    expect(error).to.include({ kind: 'transient' });
    expect(error.message).to.contain('get pod default/p failed').and.contain('ECONNREFUSED');
    const forbidden = await refusal(answering(403, '')(pod, signal));
    expect(forbidden).to.include({ kind: 'invalid' });
    expect(forbidden.message).to.contain('get pod default/p failed: the agent needs this permission');
  });
});

describe('the Kubernetes API by KUBECONFIG', () => {
  const before = process.env['KUBECONFIG'];
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-pods-'));
    process.env['KUBECONFIG'] = join(folder, 'kubeconfig');
  });

  afterEach(() => {
    if (before === undefined) delete process.env['KUBECONFIG'];
    else process.env['KUBECONFIG'] = before;
    rmSync(folder, { recursive: true, force: true });
  });

  it('is asked at its server, below the server’s path, with its token', async () => {
    const server = createServer((request, response) => {
      response.writeHead(203).end(`${request.method} ${request.url} ${request.headers.authorization}`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name: 'c', cluster: { server: `http://127.0.0.1:${port}/below/`, 'insecure-skip-tls-verify': true } },
      ],
      users: [{ name: 'u', user: { token: 'secret' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig));
    try {
      expect(await kubernetesApi()('/api/v1/x', signal)).to.deep.equal({
        status: 203,
        body: 'GET /below/api/v1/x Bearer secret',
      });
    } finally {
      server.close();
    }
  });

  it('is waited for no longer than its caller does, also for its credentials', async () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sleep', args: ['1'] };
    const kubeconfig = {
      clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
      users: [{ name: 'u', user: { exec } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig));
    const caller = AbortSignal.timeout(20);
    expect(await kubernetesApi()('/', caller).catch((error: unknown) => error)).to.equal(caller.reason);
  });

  it('is looked for again when there was no configuration', async () => {
    const get = kubernetesApi();
    const error: unknown = await get('/', signal).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message').that.contains(folder);
    writeFileSync(
      join(folder, 'kubeconfig'),
      JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [], contexts: [], users: [] }),
    );
    const second: unknown = await get('/', signal).catch((thrown: unknown) => thrown);
    expect(second).to.have.property('message', 'KUBECONFIG names no cluster');
  });
});
