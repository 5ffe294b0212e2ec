/** Tests the plugin's binary with the agent as a process, and a stub allocator on real gRPC. */
import { expect } from 'chai';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IpledgerError } from '../../lib/errors.ts';
import {
  pluginBinary,
  buildPlugin,
  type PluginOutcome,
  StubAllocatorServer,
  startStubKubernetes,
  runPlugin,
  spawnAgent,
  spawnPlugin,
  startAgent,
  stopAgent,
  waitUntil,
} from './testing/plugin.fixture.ts';

const allVersions = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'];

describe('Plugin and agent', () => {
  let folder: string;
  let socket: string;
  let allocator: StubAllocatorServer;
  let kubernetes: Server;
  let environment: Record<string, string>;
  let agent: ChildProcess;

  before(function () {
    this.timeout(180_000);
    buildPlugin();
  });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-plugin-'));
    socket = join(folder, 'run', 's');
    allocator = new StubAllocatorServer();
    kubernetes = await startStubKubernetes(join(folder, 'kubeconfig'));
    environment = {
      KUBECONFIG: join(folder, 'kubeconfig'),
      IPLEDGER_ENDPOINT: await allocator.listen(),
      IPLEDGER_SOCKETS: `${socket},${socket}.second`,
      IPLEDGER_NODE: 'node-a',
      IPLEDGER_PENDING_DELS: join(folder, 'pending'),
      IPLEDGER_BINDINGS: join(folder, 'bindings'),
    };
    agent = await startAgent(environment);
  });

  afterEach(async () => {
    await stopAgent(agent);
    allocator.close();
    kubernetes.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const confOf = (cniVersion: string, path = socket) => ({
    cniVersion,
    name: 'macvlan',
    type: 'macvlan',
    ipam: { type: 'kube-ovn', server_socket: path, provider: 'macvlan.default' },
  });

  interface Run {
    readonly cniVersion?: string;
    readonly env?: Record<string, string>;
    readonly conf?: object;
    readonly plugin?: string;
  }

  const run = (
    command: string,
    { cniVersion = '1.1.0', env, conf, plugin = pluginBinary }: Run = {},
  ): Promise<PluginOutcome> =>
    runPlugin(plugin, conf ?? confOf(cniVersion), {
      CNI_COMMAND: command,
      IPLEDGER_PENDING_DELS: join(folder, 'pending'),
      ...env,
    });

  it('Plugin and agent return the addresses of an interface in the format of each CNI version', async () => {
    for (const cniVersion of allVersions) {
      const { exitCode, json } = await run('ADD', { cniVersion });
      expect(exitCode, cniVersion).to.equal(0);
      expect(json['cniVersion']).to.equal(cniVersion);
      if (cniVersion < '0.3.0') {
        expect(json).to.deep.include({ ip4: { ip: '172.17.0.11/16' }, ip6: { ip: 'fd00::b/64' } });
      } else {
        const version = (family: string) => (cniVersion < '1.0.0' ? { version: family } : {});
        expect(json['ips']).to.deep.equal([
          { ...version('4'), address: '172.17.0.11/16', interface: 0 },
          { ...version('6'), address: 'fd00::b/64', interface: 0 },
        ]);
        expect(json['interfaces']).to.deep.equal([{ name: '', sandbox: '/ns' }]);
      }
      expect(json).to.not.have.property('routes');
    }
    expect(allocator.binds).to.have.length(allVersions.length);
    const bootId = allocator.binds[0]?.bootId ?? '';
    expect(bootId).to.match(/^[0-9a-f-]{36}$/);
    expect(allocator.binds[0]).to.include({
      namespace: 'default',
      pod: 'p',
      podUid: 'u-1',
      provider: 'macvlan.default',
      containerId: 'c1',
      interface: 'net1',
      node: 'node-a',
      bootId,
    });
  });

  it('Plugin and agent return default routes for eth0', async () => {
    const { json } = await run('ADD', { env: { CNI_IFNAME: 'eth0' } });
    expect(json['routes']).to.deep.equal([
      { dst: '0.0.0.0/0', gw: '172.17.0.1' },
      { dst: '::/0', gw: 'fd00::1' },
    ]);
  });

  it('Plugin and agent read the uid from the Kubernetes API when the runtime sends none, and fail for an absent Pod', async () => {
    const podArgs = (pod: string) => ({ CNI_ARGS: `K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod}` });
    expect((await run('ADD', { env: podArgs('p') })).exitCode).to.equal(0);
    expect(allocator.binds[0]?.podUid).to.equal('uid-of-the-api');
    const missing = await run('ADD', { env: podArgs('q') });
    expect(missing.json).to.include({
      code: 11,
      msg: 'RPC failed',
      details: 'request ip return 500 get pod default/q failed pod "q" not found',
    });
  });

  it('Plugin and agent return the allocator’s error', async () => {
    allocator.error = new IpledgerError('PROVIDER_UNBOUND', 'provider macvlan.default is not bound to any subnet');
    const unbound = await run('ADD', { cniVersion: '0.3.1' });
    expect(unbound.exitCode).to.equal(1);
    expect(unbound.json).to.deep.equal({
      cniVersion: '0.3.1',
      code: 11,
      msg: 'RPC failed',
      details:
        'request ip return 400 provider macvlan.default is not bound to any subnet: ' +
        'create a Subnet with that spec.provider. Run: kubectl ipledger why default/p (or kubectl describe pod)',
    });
    allocator.error = new IpledgerError('NOT_ALLOCATED', 'subnet macvlan is full');
    expect((await run('ADD')).json['details']).to.equal(
      'request ip return 500 no address allocated to pod default/p provider macvlan.default: ' +
        'subnet macvlan is full. Run: kubectl ipledger why default/p (or kubectl describe pod)',
    );
    allocator.error = new IpledgerError('ADDRESS_FENCED', 'its key was edited');
    const del = await run('DEL');
    expect(del.json['code']).to.equal(11);
    expect(del.json['details']).to.match(/^delete ip return 500 \{.*its key was edited"\}$/);
  });

  it('The agent fails with a permanent error as the main plugin without a data path', async () => {
    const conf = { cniVersion: '1.0.0', name: 'n', type: 'kube-ovn', server_socket: socket, provider: 'n.default.ovn' };
    const failed = await run('ADD', { conf });
    expect(failed.exitCode).to.equal(1);
    expect(failed.json).to.include({ cniVersion: '1.0.0', code: 100 });
    expect(failed.json['msg']).to.match(/^no data path for type kube-ovn/);
    expect(allocator.binds).to.deep.equal([]);
    expect((await run('DEL', { conf })).exitCode).to.equal(0);
  });

  it('Plugin and agent end a container’s binding at DEL, also at a repeated DEL and without a network namespace', async () => {
    for (const netns of ['/ns', '', ''])
      expect(await run('DEL', { env: { CNI_NETNS: netns } })).to.include({ exitCode: 0, stdout: '' });
    expect(allocator.unbinds).to.have.length(3);
    expect(allocator.unbinds[2]).to.deep.equal({
      namespace: 'default',
      pod: 'p',
      provider: 'macvlan.default',
      containerId: 'c1',
      interface: 'net1',
      cause: 'UNBIND_CAUSE_UNSPECIFIED',
      evidence: '',
    });
  });

  it('The agent runs the requests of one container one at a time, and those of different containers at the same time', async () => {
    const barrier = Promise.withResolvers<void>();
    allocator.waitBarrier = barrier.promise;
    const adds = [run('ADD'), run('ADD')];
    await waitUntil(() => allocator.attaches.length > 0);
    const del = run('DEL');
    const other = run('DEL', { env: { CNI_CONTAINERID: 'c2' } });
    expect((await other).exitCode).to.equal(0);
    expect(allocator.attaches).to.have.length(1);
    expect(allocator.unbinds.map(({ containerId }) => containerId)).to.deep.equal(['c2']);
    barrier.resolve();
    for (const outcome of await Promise.all([...adds, del])) expect(outcome.exitCode).to.equal(0);
    expect(allocator.binds).to.have.length(2);
  });

  it('Plugin and agent bind nothing when the runtime kills the plugin', async () => {
    const barrier = Promise.withResolvers<void>();
    allocator.waitBarrier = barrier.promise;
    const child = spawnPlugin(pluginBinary, confOf('1.0.0'), { CNI_COMMAND: 'ADD', CNI_CONTAINERID: 'c9' });
    await waitUntil(() => allocator.attaches.length > 0);
    child.kill('SIGKILL');
    await once(child, 'exit');
    // Runs only after the ADD is aborted: requests of one container wait for each other.
    const del = run('DEL', { env: { CNI_CONTAINERID: 'c9' } });
    expect((await del).exitCode).to.equal(0);
    barrier.resolve();
    expect((await run('ADD', { env: { CNI_CONTAINERID: 'c8' } })).exitCode).to.equal(0);
    expect(allocator.binds.map(({ containerId }) => containerId)).to.deep.equal(['c8']);
  });

  it('The agent uses Wait and Bind of an allocator of an earlier version', async () => {
    allocator.hasAttach = false;
    expect((await run('ADD')).exitCode).to.equal(0);
    expect([allocator.attaches.length, allocator.waits.length, allocator.binds.length]).to.deep.equal([0, 1, 1]);
  });

  it('The agent ends a waiting ADD with "try again" and removes the socket when it stops', async () => {
    allocator.waitBarrier = new Promise(() => undefined);
    const waiting = run('ADD', { env: { IPLEDGER_ADD_WAIT_SECONDS: '0' } });
    await waitUntil(() => allocator.attaches.length > 0);
    await stopAgent(agent);
    expect((await waiting).json).to.include({
      code: 11,
      details: 'request ip return 503 the node agent is being stopped: try again',
    });
    expect(existsSync(socket)).to.equal(false);
  });

  for (const signal of ['SIGTERM', 'SIGKILL'] as const)
    it(`The plugin sends a waiting ADD to the next agent after ${signal}`, async () => {
      allocator.waitBarrier = new Promise(() => undefined);
      const waiting = run('ADD');
      await waitUntil(() => allocator.attaches.length > 0);
      await stopAgent(agent, signal);
      allocator.waitBarrier = Promise.resolve();
      agent = await startAgent(environment);
      expect((await waiting).exitCode).to.equal(0);
      expect(allocator.binds.map(({ containerId }) => containerId)).to.deep.equal(['c1']);
    });

  it('The plugin saves a DEL while the agent is stopped, and the agent does it when it starts', async () => {
    await stopAgent(agent, 'SIGKILL');
    expect(existsSync(socket)).to.equal(true);
    expect((await run('DEL')).exitCode).to.equal(0);
    expect(readdirSync(join(folder, 'pending'))).to.deep.equal(['c1@net1.json']);
    agent = await startAgent(environment); // replaces the socket file of the killed agent
    await waitUntil(() => readdirSync(join(folder, 'pending')).length === 0);
    expect(allocator.unbinds).to.have.length(1);
    expect(allocator.unbinds[0]).to.include({ containerId: 'c1', interface: 'net1', provider: 'macvlan.default' });
  });

  it('The plugin waits for an agent that restarts', async () => {
    await stopAgent(agent);
    const waiting = run('DEL');
    agent = await startAgent(environment);
    expect((await waiting).exitCode).to.equal(0);
    await waitUntil(() => allocator.unbinds.length === 1); // a pending DEL on a slow machine, else the plugin's DEL
  });

  it('ADD and DEL succeed while the plugin’s file is replaced', async () => {
    const barrier = Promise.withResolvers<void>();
    allocator.waitBarrier = barrier.promise;
    const plugin = join(folder, 'kube-ovn');
    copyFileSync(pluginBinary, plugin);
    chmodSync(plugin, 0o755);
    const waiting = run('ADD', { plugin });
    await waitUntil(() => allocator.attaches.length > 0);
    copyFileSync(pluginBinary, `${plugin}.new`);
    renameSync(`${plugin}.new`, plugin);
    barrier.resolve();
    expect((await waiting).exitCode).to.equal(0);
    expect((await run('ADD', { plugin })).exitCode).to.equal(0);
  });

  it('The socket is accessible to root only, and one agent serves it', async () => {
    expect(statSync(socket).mode & 0o777).to.equal(0o600);
    const second = spawnAgent({ ...environment, IPLEDGER_SOCKETS: socket });
    let stderr = '';
    second.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
    const [exitCode] = (await once(second, 'close')) as [number | null];
    expect(exitCode).to.equal(1);
    expect(stderr).to.contain('is served by another process');
    expect((await run('ADD')).exitCode).to.equal(0);
    expect((await run('ADD', { conf: confOf('1.1.0', `${socket}.second`) })).exitCode).to.equal(0);
  });

  it('The agent serves a Kube-OVN client that keeps its HTTP/1.1 connection', async () => {
    const body = JSON.stringify({
      pod_name: 'p',
      pod_namespace: 'default',
      container_id: 'c1',
      if_name: 'net1',
      provider: 'a.b',
    });
    const client = connect(socket);
    client.setEncoding('utf8');
    for (const [path, status] of [
      ['add', '200 OK'],
      ['del', '204 No Content'],
    ] as const) {
      client.write(
        `POST /api/v1/${path} HTTP/1.1\r\nHost: dummy\r\nContent-Type: application/json\r\nAccept: application/json\r\n` +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
      );
      const [response] = (await once(client, 'data')) as [string];
      expect(response).to.match(new RegExp(`^HTTP/1.1 ${status}\r\n`));
      if (path === 'add')
        expect(response).to.contain('"address":"172.17.0.11,fd00::b"').and.contain('"ips":[{"protocol":"IPv4"');
    }
    client.destroy();
  });
});
