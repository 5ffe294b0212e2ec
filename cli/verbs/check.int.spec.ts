import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js';
import { expect } from 'chai';
import {
  IpamService,
  LedgerService,
  type ListAllocationsRequest,
  SubnetsService,
} from '../../proto/generated/ipledger.ts';
import { startTestServer, type TestServer } from '../../lib/grpc/testing/grpc-test-server.ts';
import { runProgram } from '../testing/run-cli.ts';
import type { CliResult } from '../testing/run-in-process.ts';

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

describe('ipledger check', function () {
  this.timeout(120_000);
  let folder: string;
  let allocator: TestServer;
  let api: Server;
  /** The lists of the API; a number is an HTTP status. */
  let listed: Record<string, () => readonly object[] | number>;
  let requests: string[];
  let position: object;
  /** The bindings of released addresses. */
  let lingeringBindings: object[];
  /** The replies to VerifyKeys. */
  let verifyReplies: () => object[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ipledger-check-'));
    requests = [];
    position = { seq: 42 };
    lingeringBindings = [];
    verifyReplies = () => [{ done: true }];
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
    allocator = await startTestServer(
      [
        IpamService,
        {
          listAllocations: list,
          listBindings: (_call: unknown, done: Done) => done(null, { bindings: [...bindings, ...lingeringBindings] }),
          listReservations: (_call: unknown, done: Done) => done(null, {}),
        },
      ],
      [LedgerService, { verify, getStatus: (_call: unknown, done: Done) => done(null, {}) }],
      [
        SubnetsService,
        {
          listSubnets: (_call: unknown, done: Done) => done(null, { position, subnets }),
          listPools: (_call: unknown, done: Done) => done(null, {}),
        },
      ],
    );
    api = createServer(({ method, url = '' }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://api');
      const [plural = ''] = pathname.split('/').slice(-1);
      requests.push(`${method} ${pathname}`);
      const items = (listed[pathname] ?? listed[plural])?.() ?? 404;
      if (typeof items === 'number') {
        response.writeHead(items).end(JSON.stringify({ kind: 'Status', message: 'not today' }));
        return;
      }
      // Sends one object per page
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
    for (const each of verifyReplies()) call.write(each);
    call.end();
  }

  function list({ request }: ServerUnaryCall<ListAllocationsRequest, object>, done: Done): void {
    done(null, request.pageToken === '' ? { nextPageToken: 'more' } : { allocations });
  }

  const check = (...args: string[]): Promise<CliResult> => checkWith({}, ...args);

  async function checkWith(env: Record<string, string>, ...args: string[]): Promise<CliResult> {
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
    return runProgram(['check', ...args], { IPLEDGER_ENDPOINT: allocator.endpoint, KUBECONFIG: kubeconfig, ...env });
  }

  it('ipledger check exits with 0 if the first read has no disagreement', async () => {
    const result = await check();
    expect(result).to.deep.equal({
      status: 0,
      stdout: '1 Pod, 1 allocation, 1 IP object compared at seq 42: no disagreement\n',
      stderr: '',
    });
    expect(requests).to.have.members([
      // ipledger does not run beside Kube-OVN here
      'GET /apis/ipam.ipledger.io/v1',
      'GET /api/v1/pods',
      'GET /apis/kubeovn.io/v1/ips',
      'GET /apis/kubeovn.io/v1/subnets',
      'GET /apis/k8s.cni.cncf.io/v1/network-attachment-definitions',
      // KubeVirt is not installed here
      'GET /apis/kubevirt.io/v1',
      'GET /apis/kubeovn.io/v1/ippools',
      'GET /apis/kubeovn.io/v1/vips',
      'GET /api/v1/nodes',
      'GET /apis/apps/v1/statefulsets',
    ]);
  });

  it('ipledger check reads the objects of ipledger’s own group on a cluster that serves the group, unless the environment forbids it', async () => {
    listed['/apis/ipam.ipledger.io/v1'] = () => [];
    const groupsWith = async (env: Record<string, string>): Promise<ReadonlySet<string>> => {
      requests = [];
      expect(await checkWith(env)).to.have.property('status', 0);
      const ofSubnets = requests.filter((request) => request.endsWith('/subnets'));
      return new Set(ofSubnets.map((request) => request.split('/')[2] ?? ''));
    };
    expect([...(await groupsWith({}))]).to.deep.equal(['ipam.ipledger.io']);
    expect([...(await groupsWith({ IPLEDGER_BESIDE_KUBE_OVN: 'false' }))]).to.deep.equal(['kubeovn.io']);
  });

  it('ipledger check exits with 2 for a ledger without events, because nothing can be compared', async () => {
    position = {};
    const { status, stdout, stderr } = await check();
    expect([status, stdout]).to.deep.equal([2, '']);
    expect(stderr).to.match(/^ipledger: the comparison failed: there is no event in the ledger of /);
  });

  it('ipledger check exits with 1 and a line with a remedy for each disagreement', async () => {
    const second = { ...pod('10.0.0.9'), metadata: { ...pod('').metadata, name: 'second', uid: 'uid-second' } };
    listed['pods'] = () => [pod('10.0.0.3'), second];
    const { status, stdout } = await check();
    expect(status).to.equal(1);
    expect(stdout.split('\n')).to.deep.equal([
      'DISAGREEMENT  WHERE               WHAT                                                                                       REMEDY',
      'annotation    Pod default/web     annotation lan.default.kubernetes.io/ip_address is "10.0.0.3"; the ledger has "10.0.0.2"   kubectl annotate pod -n default web --overwrite lan.default.kubernetes.io/ip_address=10.0.0.2  # the pod-watcher does that: check that it runs, and that its role permits it to patch Pods',
      'annotation    Pod default/second  annotation lan.default.kubernetes.io/allocated claims an address, and the ledger has none  ipledger why default/second  # it came with a copied Pod, or the ledger has lost events. The pod-watcher removes it from a Pending Pod',
      '2 Pods, 1 allocation, 1 IP object compared at seq 42: 2 disagreements',
      '',
    ]);
  });

  it('ipledger check leaves out a difference that the second read does not show', async () => {
    let reads = 0;
    listed['pods'] = () => (reads++ === 0 ? [] : [pod('10.0.0.2')]);
    expect(await check()).to.deep.equal({
      status: 0,
      stdout: '1 Pod, 1 allocation, 1 IP object compared at seq 42: no disagreement\n',
      stderr: '1 transient difference left out\n',
    });
  });

  it('ipledger check reports every key that differs from the log with --keys', async () => {
    const findings = [
      { key: '/ipledger/v1/addr/lan/10.0.0.2', what: 'the log implies another value', expected: '{"last": 7}' },
      { key: '/ipledger/v1/log/0000000000000007', what: 'it is not an event' },
      { key: '/ipledger/v1/pool/stray', what: 'the log does not imply it' },
    ];
    verifyReplies = () => [{}, { done: true, findings }];
    const { status, stdout } = await check('--keys');
    expect(status).to.equal(1);
    expect(stdout).to.match(
      /^key +\/ipledger\/v1\/addr\/lan\/10\.0\.0\.2 +the log implies another value +etcdctl put \/ipledger\/v1\/addr\/lan\/10\.0\.0\.2 '\{"last": 7\}' {2}# the value that the log implies/m,
    );
    expect(stdout).to.match(
      /^key +\S+0007 +it is not an event +etcdctl get \/ipledger\/v1\/log\/0000000000000007 {2}# /m,
    );
    expect(stdout).to.match(
      /^key +\S+stray +the log does not imply it +etcdctl del \/ipledger\/v1\/pool\/stray {2}# /m,
    );
    verifyReplies = () => [{}];
    expect(await check('--keys')).to.include({ status: 2, stdout: '' });
  });

  it('ipledger check exits with 0 for an address that a binding holds, and reports it on stderr', async () => {
    const binding = { containerId: 'c0ffee', interface: 'net1', node: 'node-1', at: '2026-01-31T08:00:00.000Z' };
    lingeringBindings = [{ attachment, subnet: 'lan', addresses: ['10.0.0.8'], binding }];
    const result = await check();
    expect(result).to.include({ status: 0 });
    expect(result.stdout).to.match(/: no disagreement\n$/);
    expect(result.stderr).to.equal(
      '10.0.0.8 of subnet lan is held: container c0ffee of Pod default/web on node node-1 may still answer on it, bound since 2026-01-31T08:00:00.000Z; the CNI DEL of that container, a reboot of node-1, or a binding timeout of the Subnet ends that. Start node-1. If it is powered off for good, run: kubectl delete node node-1, or: kubectl taint node node-1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute\n',
    );
  });

  it('ipledger check reports the fenced addresses of all replicas that answer', async () => {
    const fenced = [{ ...subnets[0], fenced: ['10.0.0.2'] }];
    await using other = await startTestServer([
      SubnetsService,
      { listSubnets: (_call: unknown, done: Done) => done(null, { position: { seq: 42 }, subnets: fenced }) },
    ]);
    const { status, stdout } = await check('--allocator', `${allocator.endpoint},127.0.0.1:1, ${other.endpoint}`);
    expect(status).to.equal(1);
    expect(stdout).to.match(/^fenced +10.0.0.2 of subnet lan +another etcd client changed its key/m);
  });

  it('ipledger check prints JSON', async () => {
    listed['ips'] = () => [];
    const { status, stdout } = await check('-o', 'json');
    expect(status).to.equal(1);
    const { position, disagreements, ...rest } = JSON.parse(stdout) as { position: object; disagreements: object[] };
    expect(position).to.include({ seq: 42 });
    expect(rest).to.deep.equal({
      compared: { pods: 1, allocations: 1, ipObjects: 0 },
      heldByBindings: [],
      transient: 0,
    });
    expect(disagreements).to.have.length(1);
    expect(disagreements[0]).to.include({ kind: 'IP object missing', where: 'IP web.default.lan.default' });
    expect(disagreements[0]).to.have.all.keys('kind', 'where', 'what', 'remedy');
  });

  it('ipledger check prints a row of CSV for each disagreement', async () => {
    listed['ips'] = () => [];
    const { status, stdout } = await check('-o', 'csv');
    expect(status).to.equal(1);
    expect(stdout).to.match(
      /^disagreement,where,what,remedy\r\nIP object missing,IP web\.default\.lan\.default,.*\r\n$/,
    );
  });

  describe('exits with 2 and the reason', () => {
    it('ipledger check exits with 2 and the reason without an allocator', async () => {
      await allocator[Symbol.asyncDispose]();
      const { status, stdout, stderr } = await check();
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.match(/^ipledger: the comparison failed: cannot reach the allocator at 127.0.0.1:\d+ /);
    });

    it('ipledger check exits with 2 and the reason without permission', async () => {
      listed['ips'] = () => 403;
      const { status, stdout, stderr } = await check();
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.match(
        /^ipledger: the comparison failed: cannot read \/apis\/kubeovn.io\/v1\/ips of the Kubernetes API at http:\S+ \(403 not today\): the cluster refuses it by a policy/,
      );
    });

    it('ipledger check exits with 2 and the reason without a kubeconfig', async () => {
      const result = await runProgram(['check'], {
        IPLEDGER_ENDPOINT: allocator.endpoint,
        KUBECONFIG: join(folder, 'nowhere'),
      });
      expect(result.status).to.equal(2);
      expect(result.stderr).to.contain('KUBECONFIG cannot be read: ENOENT');
    });
  });
});
