/**
 * Tests node agents that identify themselves by ServiceAccount tokens, which a real API server
 * issues and verifies. Most tests are attacks.
 */
import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { call, connect } from '../../lib/grpc/client.ts';
import { IpledgerError } from '../../lib/errors.ts';
import { type ClientTls, loadTls, tokenTlsFromEnvironment } from '../../lib/tls/credentials.ts';
import { IpamService, LedgerService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { certificateFolder, type CertificateFolder, makeCertificates } from '../harness/certificates/certificates.ts';
import { callPlugin, type CniAnswer, kubeOvnPlugin, podArgs } from '../harness/cni.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { type Cluster, startCluster } from '../harness/kubernetes/cluster.ts';
import { type TcpProxy, startTcpProxy } from '../harness/network/tcp-proxy.ts';
import { root } from '../harness/paths.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type AllocatorServer, startAgent, startAllocator, type TokenReviewSettings } from '../harness/services.ts';
import { eventually } from './support/eventually.ts';

const namespace = 'kube-system';
const account = 'ipledger-node-agent';
const timeoutMs = 20_000;

/** Makes a Pod of an agent, or of an attacker. */
const agentPod = (name: string, node: string, serviceAccountName = account, ns = namespace) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: ns },
  spec: {
    nodeName: node,
    serviceAccountName,
    containers: [{ name: 'agent', image: 'agent' }],
    // Names the audience: the kubelet may request tokens only for audiences of the Pod.
    volumes: [
      { name: 'token', projected: { sources: [{ serviceAccountToken: { audience: 'ipledger', path: 'token' } }] } },
    ],
  },
});
const serviceAccount = (name: string, ns = namespace) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace: ns },
});

describe('Node agents with ServiceAccount tokens', function () {
  this.timeout(180_000);
  let run: Run;
  let cluster: Cluster;
  let etcd: Etcd;
  let proxy: TcpProxy;
  let certificates: CertificateFolder;
  let tokenReview: TokenReviewSettings;
  let allocator: AllocatorServer;
  let countFiles = 0;
  const opened: { close(): void }[] = [];

  before(async () => {
    run = openRun();
    [cluster, etcd] = await Promise.all([
      startCluster(run, { nodes: ['node-1', 'node-2'], controllers: false, crds: false }),
      startEtcd(run),
    ]);
    await cluster.apply(join(root, 'deploy/rbac.yaml'));
    const items = [
      serviceAccount('other'),
      serviceAccount(account, 'default'),
      agentPod('agent-1', 'node-1'),
      agentPod('agent-2', 'node-2'),
      agentPod('other', 'node-1', 'other'),
      agentPod('tenant', 'node-1', account, 'default'),
      agentPod('deleted', 'node-1'),
    ];
    await cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));

    proxy = await startTcpProxy(run, cluster.url.replace('https://', ''));
    const direct = await cluster.kubeconfigFor('system:serviceaccount:kube-system:ipledger-allocator');
    const kubeconfig = join(run.folder, 'allocator.kubeconfig');
    writeFileSync(kubeconfig, readFileSync(direct, 'utf8').replaceAll(cluster.url, `https://${proxy.endpoint}`));
    tokenReview = { kubeconfig, account: `${namespace}/${account}` };

    const folder = join(run.folder, 'certificates');
    await makeCertificates({ folder, allocators: ['allocator', 'second'], nodes: [], operators: ['test'] });
    certificates = certificateFolder(folder);
    allocator = await startAllocator(run, { etcd, tls: certificates.allocator('allocator'), tokenReview });
    const spec = { provider: 'lan.default', cidrBlock: '10.9.0.0/24', gateway: '10.9.0.1' };
    await asOperator(SubnetsService.applySubnet, { name: 'lan', spec });
    for (const [name, node] of [
      ['one', 'node-1'],
      ['two', 'node-2'],
      ['three', 'node-1'],
    ] as const)
      await asOperator(IpamService.allocate, {
        pod: { namespace: 'default', name, uid: `uid-${name}`, node },
        attachments: [{ provider: 'lan.default', subnets: ['lan'] }],
      });
  });
  afterEach(() => {
    for (const one of opened.splice(0)) one.close();
  });
  after(() => run?.end());

  const connectWith = (tls: ClientTls, { endpoint } = allocator) => {
    const connection = connect(endpoint, tls);
    opened.push(connection);
    return connection;
  };
  const asOperator: <Request, Reply>(
    method: Parameters<typeof call<Request, Reply>>[1],
    request: Parameters<typeof call<Request, Reply>>[2],
  ) => Promise<Reply> = (method, request) =>
    call(connectWith(loadTls(certificates.operator('test'))), method, request, { timeoutMs });
  const tokenTls = (token: string): ClientTls => {
    const file = join(run.folder, `token-${countFiles++}`);
    writeFileSync(file, token);
    return tokenTlsFromEnvironment({ IPLEDGER_TLS_CA: certificates.watcher.ca }, file, undefined);
  };

  /** Requests a token from the API server. */
  const createToken = async (
    flags: readonly string[],
    { name = account, ns = namespace, audience = 'ipledger' } = {},
  ) => {
    const audiences = audience === '' ? [] : [`--audience=${audience}`];
    return (await cluster.kubectl(['create', 'token', name, '-n', ns, ...audiences, ...flags])).trim();
  };
  const ofPod = (pod: string): string[] => ['--bound-object-kind=Pod', `--bound-object-name=${pod}`];

  /** Binds a Pod's container on a node. Returns "bound", or the error code and message. */
  const bind = (token: string, { pod = 'one', node = 'node-1', at = allocator } = {}): Promise<string> => {
    const sandbox = { namespace: 'default', pod, podUid: `uid-${pod}`, provider: 'lan.default', interface: 'net1' };
    const request = { ...sandbox, containerId: `container-of-${pod}`, node, bootId: 'boot-1' };
    return call(connectWith(tokenTls(token), at), IpamService.bind, request, { timeoutMs }).then(
      () => 'bound',
      (thrown: unknown) => {
        const { code, message } = IpledgerError.from(thrown);
        return `${code}: ${message}`;
      },
    );
  };
  const boundBy = async (pod: string): Promise<string[]> => {
    const { events } = await asOperator(LedgerService.history, { namespace: 'default', pod });
    return events.flatMap(({ type, actor }) => (type === 'AddressBound' ? [actor] : []));
  };
  /** Reads what the API server reports about the user of a token. */
  const extraOf = async (token: string): Promise<Record<string, string[]>> => {
    const spec = { token, audiences: ['ipledger'] };
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec };
    const answer = await cluster.kubectl(['create', '-f', '-', '-o', 'json'], JSON.stringify(review));
    return (JSON.parse(answer) as { status: { user: { extra: Record<string, string[]> } } }).status.user.extra;
  };
  /** Changes the claims of a token. Keeps the old signature without the API server's key. */
  const forge = (token: string, change: (claims: Record<string, unknown>) => object, key?: string): string => {
    const [header = '', payload = '', signature = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const signed = `${header}.${Buffer.from(JSON.stringify(change(claims))).toString('base64url')}`;
    if (key === undefined) return `${signed}.${signature}`;
    const dsaEncoding = 'ieee-p1363';
    const made = sign('sha256', Buffer.from(signed), { key: createPrivateKey(readFileSync(key)), dsaEncoding });
    return `${signed}.${made.toString('base64url')}`;
  };
  const signingKey = (): string => join(run.folder, 'kubernetes/pki/service-account.key');

  it('the agent of a node binds a Pod of its node, and the event names the agent', async () => {
    expect(await bind(await createToken(ofPod('agent-1')))).to.equal('bound');
    expect(await boundBy('one')).to.deep.equal(['ipledger://agent/node-1']);
  });

  it('the agent of node A cannot bind as node B, and cannot bind a Pod of node B', async () => {
    const token = await createToken(ofPod('agent-1'));
    expect(await bind(token, { pod: 'two', node: 'node-2' })).to.match(/^PERMISSION_DENIED: .*agent of node node-1/);
    expect(await bind(token, { pod: 'two', node: 'node-1' })).to.match(/^PERMISSION_DENIED/);
    expect(await boundBy('two')).to.deep.equal([]);
    expect(await bind(await createToken(ofPod('agent-2')), { pod: 'two', node: 'node-2' })).to.equal('bound');
  });

  it('a token that is bound to a Node, but to no Pod, is rejected although the API server names its node', async () => {
    const token = await createToken(['--bound-object-kind=Node', '--bound-object-name=node-1']);
    const extra = await extraOf(token);
    expect(extra['authentication.kubernetes.io/node-name']).to.deep.equal(['node-1']);
    expect(extra).not.to.have.property('authentication.kubernetes.io/pod-name');
    expect(await bind(token)).to.match(/^UNAUTHENTICATED: .*bound to no Pod/);
  });

  it('a token that is not bound to an object is rejected', async () => {
    expect(await bind(await createToken([]))).to.match(/^UNAUTHENTICATED: .*bound to no Pod/);
  });

  it('a token of another audience is rejected, such as a token for the Kubernetes API', async () => {
    for (const audience of ['vault', ''])
      expect(await bind(await createToken(ofPod('agent-1'), { audience }))).to.match(/^UNAUTHENTICATED/);
  });

  it('a token of another ServiceAccount is rejected, also if it has the same name in another namespace', async () => {
    const other = await createToken(ofPod('other'), { name: 'other' });
    expect(await bind(other)).to.match(/^UNAUTHENTICATED: .*serviceaccount:kube-system:other, and not of/);
    const tenants = await createToken(ofPod('tenant'), { ns: 'default' });
    expect(await bind(tenants)).to.match(/^UNAUTHENTICATED: .*serviceaccount:default:ipledger-node-agent, and not of/);
  });

  it('an expired token is rejected', async () => {
    const token = await createToken(ofPod('agent-1'));
    const signedAgain = forge(token, (claims) => ({ ...claims, jti: 'again' }), signingKey());
    expect(await bind(signedAgain), 'the same claims with a later expiry').to.equal('bound');
    const now = Math.floor(Date.now() / 1_000);
    const times = { iat: now - 7_200, nbf: now - 7_200, exp: now - 3_600 };
    expect(await bind(forge(token, (claims) => ({ ...claims, ...times }), signingKey()))).to.match(/^UNAUTHENTICATED/);
  });

  it('a token whose claims were changed is rejected', async () => {
    const node = { name: 'node-2' };
    const forged = forge(await createToken(ofPod('agent-1')), (claims) => ({
      ...claims,
      'kubernetes.io': { ...(claims['kubernetes.io'] as object), node },
    }));
    expect(await bind(forged, { pod: 'two', node: 'node-2' })).to.match(/^UNAUTHENTICATED/);
  });

  it('a token of a deleted Pod is rejected', async () => {
    const token = await createToken(ofPod('deleted'));
    await cluster.kubectl(['delete', 'pod', 'deleted', '-n', namespace, '--grace-period=0', '--force']);
    expect(await bind(token)).to.match(/^UNAUTHENTICATED/);
  });

  it('the kubelet of node A gets a token for the agent of its node only', async () => {
    const kubeconfig = await cluster.kubeconfigFor('system:node:node-1', ['system:nodes']);
    const asKubelet = (flags: readonly string[]): Promise<string> =>
      createToken([...flags, `--kubeconfig=${kubeconfig}`]).catch((error: unknown) => String(error));
    const boundTo = async (pod: string): Promise<string[]> => {
      const { metadata } = (await cluster.get(['pod', pod, '-n', namespace])) as { metadata: { uid: string } };
      return [...ofPod(pod), `--bound-object-uid=${metadata.uid}`];
    };
    const token = await asKubelet(await boundTo('agent-1'));
    expect(token).to.match(/^eyJ/);
    expect(await bind(token)).to.equal('bound');
    expect(await asKubelet(await boundTo('agent-2'))).to.match(
      /forbidden: .*bound to a pod scheduled on a different node/,
    );
    for (const flags of [[], ['--bound-object-kind=Node', '--bound-object-name=node-2']])
      expect(await asKubelet(flags)).to.match(/forbidden: .*not bound to a pod/);
  });

  it('a stolen token cannot call the Kubernetes API', async () => {
    const token = await createToken(ofPod('agent-1'));
    const stranger = await cluster.kubeconfigFor('stranger');
    const kubeconfig = join(run.folder, 'stolen.kubeconfig');
    writeFileSync(kubeconfig, readFileSync(stranger, 'utf8').replace(/client-(certificate|key)-data: .*/g, ''));
    const calling = cluster.kubectl([`--kubeconfig=${kubeconfig}`, `--token=${token}`, 'auth', 'whoami']);
    expect(await calling.catch((error: unknown) => String(error))).to.contain('Unauthorized');
  });

  it('a standby verifies the token, and the writer records the agent', async () => {
    const tls = certificates.allocator('second');
    const second = await startAllocator(run, { etcd, name: 'second', tls, tokenReview });
    expect(await bind(await createToken(ofPod('agent-1')), { pod: 'three', at: second })).to.equal('bound');
    expect(await boundBy('three')).to.deep.equal(['ipledger://agent/node-1']);
    expect(await bind('not.a.token', { at: second })).to.match(/^UNAUTHENTICATED/);
    await second.stop();
  });

  it('while the Kubernetes API is down, the allocator accepts known tokens and answers a new token with UNAVAILABLE', async () => {
    const [known, later] = [await createToken(ofPod('agent-1')), await createToken(ofPod('agent-1'))];
    expect(await bind(known)).to.equal('bound');
    proxy.refuse();
    proxy.cut();
    expect(await bind(known)).to.equal('bound');
    expect(await bind(later)).to.match(/^UNAVAILABLE: .*did not review it/);
    proxy.restore();
    await eventually(async () => expect(await bind(later)).to.equal('bound'));
  });

  it('no log contains a token, accepted or rejected, and the metrics count both', async () => {
    expect(await bind(await createToken(ofPod('agent-1')))).to.equal('bound');
    expect(await bind(await createToken([]))).to.match(/^UNAUTHENTICATED/);
    const log = readFileSync(allocator.log, 'utf8');
    expect(log).to.contain('node agents may identify by ServiceAccount tokens').and.to.contain('a call was rejected');
    expect(log).not.to.match(/eyJ[\w-]+\.|Bearer/);
    const metrics = await (await fetch(`http://${allocator.health}/metrics`)).text();
    for (const outcome of ['accepted', 'rejected'])
      expect(metrics).to.match(new RegExp(`ipledger_token_reviews_total{outcome="${outcome}"} [1-9]`));
  });

  it('the agent uses a renewed token without a restart, and an ADD gets its address', async () => {
    const file = join(run.folder, 'mounted-token');
    writeFileSync(file, 'not.yet.valid');
    const token = { ca: certificates.watcher.ca, file };
    const agent = await startAgent(run, { allocator, cluster, token });
    const add = (): Promise<CniAnswer> =>
      callPlugin({
        command: 'ADD',
        plugin: kubeOvnPlugin,
        config: {
          cniVersion: '0.3.1',
          name: 'lan',
          type: 'macvlan',
          ipam: { type: 'kube-ovn', server_socket: agent.socket, provider: 'lan.default' },
        },
        containerId: 'container-of-one-again',
        netns: '/var/run/netns/nowhere',
        ifName: 'net1',
        args: podArgs('default', 'one', 'uid-one'),
        pendingDels: agent.pendingDels,
      });
    expect((await add()).stdout).to.contain('the token is rejected');
    writeFileSync(`${file}.new`, `${await createToken(ofPod('agent-1'))}\n`);
    renameSync(`${file}.new`, file);
    await eventually(async () => expect((await add()).result).to.have.nested.property('ips[0].address'));
  });
});
