import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { expect } from 'chai';
import { IpamService, LedgerService, type ListRequest, SubnetsService } from '../proto/ipledger.ts';
import { serve, type TestServer } from '../test/grpc-server.ts';

const ipledger = join(import.meta.dirname, 'ipledger');

const attachment = { namespace: 'default', pod: 'web', provider: 'lan.default', ordinal: 0 };
const allocations = [
  { seq: 7, attachment, podUid: 'uid-web', subnet: 'lan', addresses: [{ address: '10.0.0.2', cidr: '10.0.0.0/24' }] },
];
const bindings = [
  { attachment, subnet: 'lan', addresses: ['10.0.0.2'], binding: { containerId: 'c', interface: 'net1' } },
];
const usage = [{ family: 4, total: '253', inUse: '1', available: '252', inUseRange: '10.0.0.2', availableRange: '' }];
const subnets = [{ name: 'lan', spec: { cidrBlock: '10.0.0.0/24', provider: 'lan.default' }, usage }];

const annotation = (suffix: string): string => `lan.default.kubernetes.io/${suffix}`;
const pod = (ipAddress: string) => ({
  metadata: {
    name: 'web',
    namespace: 'default',
    uid: 'uid-web',
    annotations: {
      [annotation('ip_address')]: ipAddress,
      [annotation('cidr')]: '10.0.0.0/24',
      [annotation('allocated')]: 'true',
    },
  },
  spec: {},
  status: { phase: 'Running' },
});
const ipObject = {
  metadata: { name: 'web.default.lan.default', annotations: { 'ipledger.io/allocation': '7' } },
  spec: { podName: 'web', namespace: 'default', subnet: 'lan', ipAddress: '10.0.0.2', macAddress: '' },
};
const subnetObject = {
  metadata: { name: 'lan' },
  status: { v4availableIPs: 252, v4usingIPs: 1, v4availableIPrange: '', v4usingIPrange: '10.0.0.2' },
};

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('ipledger check', function () {
  this.timeout(120_000);
  let folder: string;
  let allocator: TestServer;
  let api: Server;
  /** What the API lists, asked anew at each request; a number is a status. */
  let listed: Record<string, () => readonly object[] | number>;
  let requests: string[];
  /** Of addresses that were released meanwhile. */
  let bindingsLeft: object[];
  /** What the allocator streams when it verifies. */
  let verdict: () => object[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ipledger-check-'));
    requests = [];
    bindingsLeft = [];
    verdict = () => [{ done: true }];
    listed = {
      pods: () => [pod('10.0.0.2')],
      ips: () => [ipObject],
      subnets: () => [subnetObject],
      'network-attachment-definitions': () => [],
      ippools: () => [],
      vips: () => [],
      nodes: () => [{ metadata: { name: 'node-1' } }],
      statefulsets: () => [],
    };
    allocator = await serve(
      [
        IpamService,
        {
          list,
          listBindings: (_call: unknown, done: Done) => done(null, { bindings: [...bindings, ...bindingsLeft] }),
          listReservations: (_call: unknown, done: Done) => done(null, {}),
        },
      ],
      [LedgerService, { verify, getStatus: (_call: unknown, done: Done) => done(null, {}) }],
      [
        SubnetsService,
        {
          listSubnets: (_call: unknown, done: Done) => done(null, { position: { seq: 42 }, subnets }),
          listPools: (_call: unknown, done: Done) => done(null, {}),
        },
      ],
    );
    api = createServer(({ method, url = '' }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://api');
      const [plural = ''] = pathname.split('/').slice(-1);
      requests.push(`${method} ${pathname}`);
      const items = listed[plural]?.() ?? 404;
      if (typeof items === 'number') {
        response.writeHead(items).end(JSON.stringify({ kind: 'Status', message: 'not today' }));
        return;
      }
      // A page each
      const from = Number(searchParams.get('continue') ?? 0);
      const metadata = from + 1 < items.length ? { continue: String(from + 1) } : {};
      response.end(JSON.stringify({ metadata, items: items.slice(from, from + 1) }));
    });
    api.listen(0, '127.0.0.1');
    await once(api, 'listening');
  });
  afterEach(async () => {
    await allocator[Symbol.asyncDispose]();
    api.close();
    await rm(folder, { recursive: true });
  });

  type Done = sendUnaryData<object>;
  type Streaming = ServerWritableStream<object, object>;

  function verify(call: Streaming): void {
    for (const each of verdict()) call.write(each);
    call.end();
  }

  function list({ request }: ServerUnaryCall<ListRequest, object>, done: Done): void {
    done(null, request.pageToken === '' ? { nextPageToken: 'more' } : { allocations });
  }

  async function check(...args: string[]): Promise<Ended> {
    const kubeconfig = join(folder, 'kubeconfig');
    const cluster = {
      server: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
      'insecure-skip-tls-verify': true,
    };
    const config = {
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    await writeFile(kubeconfig, JSON.stringify(config));
    return run(args, { IPLEDGER_ENDPOINT: allocator.endpoint, KUBECONFIG: kubeconfig });
  }

  function run(args: readonly string[], added: Record<string, string>): Promise<Ended> {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(IPLEDGER_|KUBE)/.test(name));
    return new Promise((resolve) => {
      const env = { ...Object.fromEntries(inherited), ...added };
      const child = execFile(ipledger, ['check', ...args], { env }, (_error, stdout, stderr) => {
        resolve({ status: child.exitCode ?? -1, stdout, stderr });
      });
    });
  }

  it('exits with 0 and one line when all agree; it looks once, and only reads', async () => {
    const ended = await check();
    expect(ended).to.deep.equal({
      status: 0,
      stdout: '1 Pod, 1 allocation, 1 IP object compared at seq 42: no disagreement\n',
      stderr: '',
    });
    expect(requests).to.have.members([
      'GET /api/v1/pods',
      'GET /apis/kubeovn.io/v1/ips',
      'GET /apis/kubeovn.io/v1/subnets',
      'GET /apis/k8s.cni.cncf.io/v1/network-attachment-definitions',
      // Whether there are KubeVirt's kinds: here there are none.
      'GET /apis/kubevirt.io/v1',
      'GET /apis/kubeovn.io/v1/ippools',
      'GET /apis/kubeovn.io/v1/vips',
      'GET /api/v1/nodes',
      'GET /apis/apps/v1/statefulsets',
    ]);
  });

  it('exits with 1 and a line for each that lasts, with what to do', async () => {
    const further = { ...pod('10.0.0.9'), metadata: { ...pod('').metadata, name: 'further', uid: 'uid-further' } };
    listed['pods'] = () => [pod('10.0.0.3'), further];
    const { status, stdout } = await check();
    expect(status).to.equal(1);
    expect(stdout.split('\n')).to.deep.equal([
      'DISAGREEMENT  WHERE                WHAT                                                                                                      WHAT TO DO',
      'annotation    Pod default/web      annotation lan.default.kubernetes.io/ip_address says "10.0.0.3"; the ledger says "10.0.0.2"               kubectl annotate pod -n default web --overwrite lan.default.kubernetes.io/ip_address=10.0.0.2  # the pod-watcher does that: is it running, and may it patch Pods?',
      'annotation    Pod default/further  annotation lan.default.kubernetes.io/allocated says that it has an address, and the ledger knows of none  kubectl annotate pod -n default further --overwrite lan.default.kubernetes.io/allocated-  # the pod-watcher does that: is it running, and may it patch Pods?',
      '2 Pods, 1 allocation, 1 IP object compared at seq 42: 2 disagreements',
      '',
    ]);
  });

  it('does not tell what is just happening', async () => {
    let looks = 0;
    listed['pods'] = () => (looks++ === 0 ? [] : [pod('10.0.0.2')]);
    expect(await check()).to.deep.equal({
      status: 0,
      stdout: '1 Pod, 1 allocation, 1 IP object compared at seq 42: no disagreement\n',
      stderr: '1 difference did not last and is not told\n',
    });
  });

  it('has the allocator hold every key against the log when told to', async () => {
    const findings = [
      { key: '/ipledger/v1/addr/lan/10.0.0.2', what: 'the log says otherwise', expected: '{"last": 7}' },
      { key: '/ipledger/v1/log/0000000000000007', what: 'it is no event' },
      { key: '/ipledger/v1/pool/stray', what: 'the log says nothing of it' },
    ];
    verdict = () => [{}, { done: true, findings }];
    const { status, stdout } = await check('--claims');
    expect(status).to.equal(1);
    expect(stdout).to.match(
      /^key +\/ipledger\/v1\/addr\/lan\/10\.0\.0\.2 +the log says otherwise +etcdctl put \/ipledger\/v1\/addr\/lan\/10\.0\.0\.2 '\{"last": 7\}' {2}# what the log says of it/m,
    );
    expect(stdout).to.match(/^key +\S+0007 +it is no event +etcdctl get \/ipledger\/v1\/log\/0000000000000007 {2}# /m);
    expect(stdout).to.match(
      /^key +\S+stray +the log says nothing of it +etcdctl del \/ipledger\/v1\/pool\/stray {2}# /m,
    );
    verdict = () => [{}];
    expect(await check('--claims')).to.include({ status: 2, stdout: '' });
  });

  it('exits with 0 for an address that is rightly held back, and says so', async () => {
    const binding = { containerId: 'c0ffee', interface: 'net1', node: 'node-1' };
    bindingsLeft = [{ attachment, subnet: 'lan', addresses: ['10.0.0.8'], binding }];
    const ended = await check();
    expect(ended).to.include({ status: 0 });
    expect(ended.stdout).to.match(/: no disagreement\n$/);
    expect(ended.stderr).to.equal(
      '10.0.0.8 of subnet lan is held back: container c0ffee of Pod default/web on node node-1 may still answer on it\n',
    );
  });

  it('tells of the addresses that any of the replicas has fenced; one that is away is no hindrance', async () => {
    const fenced = [{ ...subnets[0], fenced: ['10.0.0.2'] }];
    await using other = await serve([
      SubnetsService,
      { listSubnets: (_call: unknown, done: Done) => done(null, { position: { seq: 42 }, subnets: fenced }) },
    ]);
    const { status, stdout } = await check('--allocator', `${allocator.endpoint},127.0.0.1:1, ${other.endpoint}`);
    expect(status).to.equal(1);
    expect(stdout).to.match(/^fenced +10.0.0.2 of subnet lan +its key in etcd was changed/m);
  });

  it('gives the same as JSON', async () => {
    listed['ips'] = () => [];
    const { status, stdout } = await check('-o', 'json');
    expect(status).to.equal(1);
    const { position, disagreements, ...rest } = JSON.parse(stdout) as { position: object; disagreements: object[] };
    expect(position).to.include({ seq: 42 });
    expect(rest).to.deep.equal({ compared: { pods: 1, allocations: 1, ipObjects: 0 }, heldBack: [], moving: 0 });
    expect(disagreements).to.have.length(1);
    expect(disagreements[0]).to.include({ kind: 'IP object missing', where: 'IP web.default.lan.default' });
    expect(disagreements[0]).to.have.all.keys('kind', 'where', 'what', 'remedy');
  });

  it('gives a row for each disagreement as CSV', async () => {
    listed['ips'] = () => [];
    const { status, stdout } = await check('-o', 'csv');
    expect(status).to.equal(1);
    expect(stdout).to.match(
      /^disagreement,where,what,what_to_do\r\nIP object missing,IP web\.default\.lan\.default,.*\r\n$/,
    );
  });

  describe('exits with 2 and says why when nothing can be compared:', () => {
    it('no allocator', async () => {
      await allocator[Symbol.asyncDispose]();
      const { status, stdout, stderr } = await check();
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.match(/^ipledger: could not compare: cannot reach the allocator at 127.0.0.1:\d+ /);
    });

    it('no permission', async () => {
      listed['ips'] = () => 403;
      const { status, stdout, stderr } = await check();
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.match(
        /^ipledger: could not compare: cannot read \/apis\/kubeovn.io\/v1\/ips of the Kubernetes API at http:\S+ \(403 not today\): KUBECONFIG/,
      );
    });

    it('no kubeconfig', async () => {
      const ended = await run([], { IPLEDGER_ENDPOINT: allocator.endpoint, KUBECONFIG: join(folder, 'nowhere') });
      expect(ended.status).to.equal(2);
      expect(ended.stderr).to.contain('KUBECONFIG cannot be read: ENOENT');
    });
  });
});
