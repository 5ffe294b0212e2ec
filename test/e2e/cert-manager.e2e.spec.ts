/**
 * Tests the certificates of the chart with real controllers of cert-manager: each is renewed 30 s
 * after its issue. All programs read them from Secrets, without a restart.
 */
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { Client } from '@grpc/grpc-js';
import { expect } from 'chai';
import { call, connect, Connection, createChannel } from '../../lib/grpc/client.ts';
import type { CertificateReloader } from '../../lib/tls/certificate-reloader.ts';
import { clientCredentials, loadTls, type TlsFiles } from '../../lib/tls/credentials.ts';
import { IpamService, LedgerService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { namespace } from '../chart/render-chart.ts';
import { documentedCommands } from '../docs/documented-commands.ts';
import { runDocumented } from '../docs/run-documented.ts';
import type { Server } from '../harness/processes/server.ts';
import { openRun, type Run } from '../harness/run.ts';
import { runIpledger } from '../harness/ipledger-cli.ts';
import { callPlugin, type CniAnswer, kubeOvnPlugin, podArgs } from '../harness/cni.ts';
import type { AgentServer } from '../harness/services.ts';
import { type CertManagerStack, startCertManagerStack } from './support/cert-manager-stack.ts';
import { expectConsistency } from './support/consistency.ts';
import { eventually } from './support/eventually.ts';
import { createKubernetesClient } from '../harness/kubernetes/kubernetes-client.ts';
import { makeNetworkAndSubnet, makePod, type TestEnvironment, waitForAddress } from './support/test-environment.ts';

const timeoutMs = 20_000;
/** The pause between two calls of the load: the machine also runs eight programs. */
const pauseMs = 50;
/** The shortest lifetime that cert-manager permits is one hour. */
const values = ['tls.certManager.duration=1h', 'tls.certManager.renewBefore=59m30s', 'tls.operators={test}'];
const renewedWithinMs = 120_000;

/** Connects without a keepalive, which a busy machine may answer too late. */
const connectWithoutKeepalive = (endpoint: string, tls: CertificateReloader): Connection => {
  const options = { 'grpc.ssl_target_name_override': 'allocator' };
  return new Connection([createChannel(new Client(endpoint, clientCredentials(tls), options))], true, 'allocator');
};

describe('Certificates of cert-manager', function () {
  this.timeout(300_000);
  let run: Run;
  let stack: CertManagerStack;
  let scene: TestEnvironment;
  let operator: TlsFiles;
  let pids: readonly number[];

  before(async () => {
    run = openRun();
    stack = await startCertManagerStack(run, values);
    operator = stack.secrets.filesOf('ipledger-operator-test');
    const configFolder = join(run.folder, 'net.d');
    mkdirSync(configFolder);
    scene = { run, stack, kubernetes: createKubernetesClient(stack.cluster.kubeconfig, run.signal), configFolder };
    await makeNetworkAndSubnet(scene, 'lan', '10.9.0.0/24');
    pids = programs().map(({ pid }) => pid);
  });
  afterEach(() => {
    expect(
      programs().map(({ pid, isAlive }) => isAlive && pid),
      'no program was restarted',
    ).to.deep.equal(pids);
    for (const { name, log } of programs())
      expect(readFileSync(log, 'utf8'), `the log of ${name}`).not.to.contain('not installed');
  });
  after(() => run?.end());

  const programs = (): Server[] => [stack.allocator, stack.standby, stack.watcher, ...stack.agents];
  const serialOf = (name: string): string => stack.secrets.certificateOf(name).serialNumber;
  const pem = (path: string): string => readFileSync(path, 'utf8');

  /** Sets the condition `Issuing`, as `cmctl renew` does. */
  const requestRenewal = async (names: readonly string[]): Promise<void> => {
    const condition = { type: 'Issuing', status: 'True', reason: 'ManuallyTriggered', message: 'requested' };
    const lastTransitionTime = new Date().toISOString();
    const patch = JSON.stringify({ status: { conditions: [{ ...condition, lastTransitionTime }] } });
    const flags = ['-n', namespace, '--subresource=status', '--type=merge', '-p', patch];
    await stack.cluster.kubectl(['patch', 'certificates.cert-manager.io', ...names, ...flags]);
  };
  /** Waits until each Secret and its mounted files have a new certificate. */
  const untilRenewed = async (names: readonly string[], change?: () => Promise<void>): Promise<void> => {
    const old = names.map(serialOf);
    await change?.();
    await eventually(() => {
      for (const [index, name] of names.entries()) expect(serialOf(name), name).not.to.equal(old[index]);
    }, renewedWithinMs);
  };

  /** Returns the serial number of the certificate that a server presents on a new connection. */
  const presentedBy = async (endpoint: string, client: TlsFiles): Promise<string> => {
    const [host = '', port = ''] = endpoint.replace('https://', '').split(':');
    const pems = { ca: pem(client.ca), cert: pem(client.cert), key: pem(client.key) };
    const checkServerIdentity = (): undefined => undefined;
    const socket = connectTls({ host, port: Number(port), ...pems, checkServerIdentity, ALPNProtocols: ['h2'] });
    try {
      await once(socket, 'secureConnect');
      return socket.getPeerCertificate().serialNumber;
    } finally {
      socket.destroy();
    }
  };
  /**
   * Waits until new connections of servers and clients use the present certificates of the Secrets.
   */
  const untilUsed = async (): Promise<void> => {
    stack.agentProxy.cut();
    stack.watcherProxy.cut();
    await eventually(async () => {
      for (const { endpoint } of [stack.allocator, stack.standby])
        expect(await presentedBy(endpoint, operator)).to.equal(serialOf('ipledger-allocator-tls'));
      const etcdClient = stack.secrets.filesOf('ipledger-etcd-allocator');
      expect(await presentedBy(stack.etcd.endpoint, etcdClient)).to.equal(serialOf('ipledger-etcd-server'));
      if (stack.watcherProxy.clientSerials.at(-1) === serialOf('ipledger-watcher-tls')) return;
      stack.watcherProxy.cut();
      throw new Error('the pod-watcher has not connected with its new certificate');
    });
  };

  const add = (pod: string, uid: string, agent: AgentServer = stack.agents[0]): Promise<CniAnswer> =>
    callPlugin({
      command: 'ADD',
      plugin: kubeOvnPlugin,
      config: {
        cniVersion: '0.3.1',
        name: 'lan',
        type: 'macvlan',
        ipam: { type: 'kube-ovn', server_socket: agent.socket, provider: 'lan.default' },
      },
      containerId: `container-of-${pod}`,
      netns: '/var/run/netns/nowhere',
      ifName: 'net1',
      args: podArgs('default', pod, uid),
      pendingDels: agent.pendingDels,
    });
  /** Expects that a new Pod gets an address, and that the agent answers its ADD. */
  const expectService = async (pod: string): Promise<void> => {
    const { metadata } = await makePod(scene, pod, 'lan');
    const address = await waitForAddress(scene, pod, 'lan');
    await eventually(async () =>
      expect((await add(pod, metadata.uid)).result, pod).to.have.nested.property('ips[0].address', `${address}/24`),
    );
  };

  interface Load {
    /** The calls on connections that were opened before. */
    readonly lasting: { answered: number; readonly failed: string[] };
    /** The calls on new connections. */
    readonly fresh: { answered: number; readonly failed: string[] };
  }
  /** Runs `work` during continuous calls to both allocators. */
  const runUnderLoad = async (work: () => Promise<void>): Promise<Load> => {
    const load: Load = { lasting: { answered: 0, failed: [] }, fresh: { answered: 0, failed: [] } };
    const done = new AbortController();
    const tls = loadTls(operator);
    const endpoints = [stack.allocator.endpoint, stack.standby.endpoint];
    const lasting = endpoints.map((endpoint) => connectWithoutKeepalive(endpoint, tls));
    const repeat = async (result: Load['lasting'], request: () => Promise<unknown>): Promise<void> => {
      for (; !done.signal.aborted; await sleep(pauseMs))
        await request().then(
          () => result.answered++,
          (error: unknown) => result.failed.push(String(error)),
        );
    };
    const loops = [
      ...lasting.map((one) => repeat(load.lasting, () => call(one, IpamService.listAllocations, {}, { timeoutMs }))),
      ...endpoints.map((endpoint) =>
        repeat(load.fresh, () => {
          const one = connect(endpoint, tls);
          return call(one, SubnetsService.listSubnets, {}, { timeoutMs }).finally(() => one.close());
        }),
      ),
    ];
    try {
      await eventually(() => expect(Math.min(load.lasting.answered, load.fresh.answered)).to.be.above(2));
      await work();
    } finally {
      done.abort();
      await Promise.all(loops);
      for (const one of lasting) one.close();
    }
    return load;
  };

  it('the Certificate of docs/install.md creates the files of an agent', async () => {
    await stack.cluster.apply(documentedCommands('docs/install.md', 'agent-certificate'));
    await eventually(() => {
      const { ca, cert, key } = stack.secrets.filesOf('agent-worker-1');
      expect(stack.secrets.certificateOf('agent-worker-1').subjectAltName).to.equal('URI:ipledger://agent/worker-1');
      for (const file of [ca, cert, key]) expect(pem(file)).to.match(/^-----BEGIN /);
    });
  });

  it('no call fails while all certificates are renewed, after 30 s and on request', async () => {
    const { lasting, fresh } = await runUnderLoad(async () => {
      await expectService('before');
      await untilRenewed(stack.issued);
      await untilUsed();
      await expectService('renewed');
      await untilRenewed(stack.issued, () => requestRenewal(stack.issued));
      await untilUsed();
      await expectService('renewed-again');
    });
    expect(lasting.failed).to.deep.equal([]);
    expect(fresh.failed).to.deep.equal([]);
    await expectConsistency(stack);
  });

  it('cert-manager exports the expiry of each certificate, for an alert', async () => {
    const text = await (await fetch(`http://${stack.certManager.metrics}/metrics`)).text();
    const labels = (name: string): string => `.*name="${name}",namespace="${namespace}"`;
    for (const name of stack.issued)
      expect(text).to.match(
        new RegExp(`^certmanager_certificate_expiration_timestamp_seconds\\{${labels(name)}.*\\} `, 'm'),
      );
  });

  it('no call fails while the authorities are renewed with the same keys', async () => {
    const keys = (): string[] =>
      stack.authorities.map((name) =>
        stack.secrets.certificateOf(name).publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      );
    const oldKeys = keys();
    const { lasting, fresh } = await runUnderLoad(async () => {
      await untilRenewed(stack.authorities, () => requestRenewal(stack.authorities));
      expect(keys()).to.deep.equal(oldKeys);
      // Renews the certificates one after the other: in the meantime a program trusts the old or
      // the new authority.
      for (const name of stack.issued) await untilRenewed([name], () => requestRenewal([name]));
      expect(pem(operator.ca)).to.equal(pem(stack.secrets.filesOf('ipledger-ca').cert));
      await untilUsed();
      await expectService('authority-renewed');
    });
    expect(lasting.failed).to.deep.equal([]);
    expect(fresh.failed).to.deep.equal([]);
  });

  it('open connections stay while the authority is replaced, and all programs then accept only the new authority', async () => {
    const outdated: TlsFiles = {
      ca: join(run.folder, 'old-ca.crt'),
      cert: join(run.folder, 'old.crt'),
      key: join(run.folder, 'old.key'),
    };
    for (const part of ['ca', 'cert', 'key'] as const) copyFileSync(operator[part], outdated[part]);
    const lines = documentedCommands('docs/security.md', 'replace-authority').trim().split('\n');
    const [remove, renew = ''] = [lines.slice(0, 2).join('\n'), lines[2]];
    const env = { KUBECONFIG: stack.cluster.kubeconfig };
    const { lasting } = await runUnderLoad(async () => {
      await untilRenewed(['ipledger-ca'], async () => {
        expect(await runDocumented(run, remove, env)).to.include({ code: 0, stderr: '' });
      });
      const ofPrograms = stack.issued.filter((name) => !name.includes('etcd'));
      expect(ofPrograms).to.include.members(/^cmctl renew -n \S+ (.*)$/.exec(renew)?.[1]?.split(' ') ?? []);
      await untilRenewed(ofPrograms, () => requestRenewal(ofPrograms));
      await eventually(() => {
        for (const name of ofPrograms)
          expect(pem(stack.secrets.filesOf(name).ca), name).to.equal(pem(stack.secrets.filesOf('ipledger-ca').cert));
      }, renewedWithinMs);
      await untilUsed();
      await expectService('authority-replaced');
    });
    expect(lasting.failed).to.deep.equal([]);
    const { allocator } = stack;
    expect((await runIpledger(['subnets'], { allocator, tls: operator })).code).to.equal(0);
    const trusting = { ...outdated, ca: operator.ca };
    expect((await runIpledger(['subnets'], { allocator, tls: outdated })).stderr).to.contain('of no authority');
    expect((await runIpledger(['subnets'], { allocator, tls: trusting })).code).not.to.equal(0);
    await expectConsistency(stack);
  });

  it('an agent continues with the token that the kubelet renewed', async () => {
    const agent = await stack.startTokenAgent({ tokenOf: 'node-1' });
    const { metadata } = await makePod(scene, 'token', 'lan');
    await waitForAddress(scene, 'token', 'lan');
    await agent.renewToken();
    expect((await add('token', metadata.uid, agent)).result).to.have.nested.property('ips[0].address');
  });

  it('an agent that claims another node than its token’s binds nothing, and the error names both nodes', async () => {
    const { metadata } = await makePod(scene, 'elsewhere', 'lan', { node: 'node-2' });
    await waitForAddress(scene, 'elsewhere', 'lan');
    const thief = await stack.startTokenAgent({ tokenOf: 'node-1', node: 'node-2' });
    const { code, result } = await add('elsewhere', metadata.uid, thief);
    expect(code).not.to.equal(0);
    expect(result)
      .to.have.property('details')
      .that.matches(/agent of node node-1.*node-2/);
    const connection = connect(stack.allocator.endpoint, loadTls(operator));
    const history = call(connection, LedgerService.history, { namespace: 'default', pod: 'elsewhere' }, { timeoutMs });
    const { events } = await history.finally(() => connection.close());
    expect(events.map(({ type }) => type)).to.deep.equal(['AddressAllocated']);
  });
});
