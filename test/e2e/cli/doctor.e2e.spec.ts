/**
 * Tests `ipledger doctor` on a real installation: etcd, Kubernetes API, allocators, pod-watcher and
 * agent, with the roles of the chart. It finds each planted fault, and nothing else.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { readTar } from '../../../lib/tar/read-tar.ts';
import { documentedCommands } from '../../docs/documented-commands.ts';
import { runDocumented } from '../../docs/run-documented.ts';
import { runIpledger } from '../../harness/ipledger-cli.ts';
import { type Etcd, startEtcd } from '../../harness/etcd.ts';
import { type Cluster, startCluster } from '../../harness/kubernetes/cluster.ts';
import { addForwardingNode } from '../../harness/kubernetes/port-forward-kubelet.ts';
import { findFreePort } from '../../harness/processes/free-ports.ts';
import type { CommandResult } from '../../harness/processes/command.ts';
import { type Server, startServer } from '../../harness/processes/server.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { type AgentServer, allocatorLaunch, startAgent, watcherLaunch } from '../../harness/services.ts';
import { eventually } from '../support/eventually.ts';
import { type MetricsPage, serveMetrics } from '../support/metrics-page.ts';
import { applyChartRoles, createPerson, createToken, installed, writeUserKubeconfig } from '../support/people.ts';

const group = 'kubeovn.io/v1';
const labelsOf = (component: string) => ({
  'app.kubernetes.io/name': 'ipledger',
  'app.kubernetes.io/component': component,
});
const networkOf = (name: string, socket: string, provider = `${name}.default`) => ({
  apiVersion: 'k8s.cni.cncf.io/v1',
  kind: 'NetworkAttachmentDefinition',
  metadata: { name, namespace: 'default' },
  spec: {
    config: JSON.stringify({ type: 'macvlan', ipam: { type: 'kube-ovn', server_socket: socket, provider } }),
  },
});
const subnetOf = (name: string, cidrBlock: string) => ({
  apiVersion: group,
  kind: 'Subnet',
  metadata: { name },
  spec: { provider: `${name}.default`, cidrBlock },
});

describe('ipledger doctor', function () {
  this.timeout(180_000);
  let run: Run;
  let etcd: Etcd;
  let cluster: Cluster;
  let watcher: Server;
  let agent: AgentServer;
  let kubeconfig: string;
  const endpoints: string[] = [];
  const pages: Record<'allocator-0' | 'allocator-1' | 'agent', MetricsPage | undefined> = {
    'allocator-0': undefined,
    'allocator-1': undefined,
    agent: undefined,
  };

  before(async () => {
    run = openRun();
    [cluster, etcd] = await Promise.all([startCluster(run, { nodes: [], controllers: false }), startEtcd(run)]);
    await Promise.all([applyChartRoles(cluster), addForwardingNode(run, cluster, 'node-1')]);
    const key = join(run.folder, 'checkpoint.key');
    await runIpledger(['checkpoint-key', key]);
    const startAllocator = async (name: 'allocator-0' | 'allocator-1'): Promise<void> => {
      const [endpoint, healthListen] = [`127.0.0.1:${await findFreePort()}`, `127.0.0.1:${await findFreePort()}`];
      const launch = allocatorLaunch({ name, etcd: [etcd.endpoint], listen: endpoint, healthListen });
      await startServer(run, { ...launch, env: { ...launch.env, IPLEDGER_CHECKPOINT_KEY: key } });
      endpoints.push(endpoint);
      pages[name] = await serveMetrics(run, healthListen);
    };
    await startAllocator('allocator-0');
    const [allocator = ''] = endpoints;
    const healthListen = `127.0.0.1:${await findFreePort()}`;
    const launch = watcherLaunch({ name: 'pod-watcher', allocator, kubeconfig: cluster.kubeconfig, healthListen });
    [watcher, agent] = await Promise.all([
      startServer(run, { ...launch, env: { ...launch.env, IPLEDGER_NAMESPACE: installed } }),
      startAgent(run, { allocator: { endpoint: allocator }, cluster }),
      startAllocator('allocator-1'),
    ]);
    pages.agent = await serveMetrics(run, agent.health);
    kubeconfig = await kubeconfigOfPerson();
    await install(Number(healthListen.split(':')[1]));
  });
  after(() => run?.end());

  /** Makes the kubeconfig of a person with only the roles of docs/install.md for doctor. */
  async function kubeconfigOfPerson(): Promise<string> {
    await createPerson(cluster, 'dora', ['ipledger-reader']);
    const binding = ['create', 'rolebinding', 'doctor-dora', '-n', installed, '--role=ipledger-doctor'];
    await cluster.kubectl([...binding, '--serviceaccount=people:dora']);
    return writeUserKubeconfig(cluster, join(run.folder, 'dora.kubeconfig'), {
      token: await createToken(cluster, 'dora'),
    });
  }

  /** Creates the objects of the chart and of Multus, with their status. */
  async function install(watcherPort: number): Promise<void> {
    const podOf = (name: string, component: string, port: number, env: object[] = []) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: installed, labels: labelsOf(component) },
      spec: {
        nodeName: 'node-1',
        hostNetwork: component === 'node-agent',
        containers: [{ name: component, image: 'ipledger', env, ports: [{ name: 'probes', containerPort: port }] }],
      },
    });
    const workloadOf = (kind: string, name: string, component: string, replicas?: number) => ({
      apiVersion: 'apps/v1',
      kind,
      metadata: { name, namespace: installed, labels: labelsOf(component) },
      spec: {
        ...(replicas !== undefined && { replicas }),
        selector: { matchLabels: labelsOf(component) },
        template: {
          metadata: { labels: labelsOf(component) },
          spec: { containers: [{ name: component, image: 'ipledger' }] },
        },
      },
    });
    const backup = {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'ipledger-etcd-backup', namespace: installed },
      spec: {
        schedule: '7 * * * *',
        jobTemplate: {
          spec: {
            template: { spec: { restartPolicy: 'Never', containers: [{ name: 'backup', image: 'ipledger' }] } },
          },
        },
      },
    };
    const items = [
      podOf('allocator-0', 'allocator', pages['allocator-0']?.port ?? 0),
      podOf('allocator-1', 'allocator', pages['allocator-1']?.port ?? 0),
      podOf('watcher', 'pod-watcher', watcherPort),
      podOf('agent', 'node-agent', pages.agent?.port ?? 0, [{ name: 'IPLEDGER_SOCKETS', value: agent.socket }]),
      workloadOf('Deployment', 'ipledger-allocator', 'allocator', 2),
      workloadOf('Deployment', 'ipledger-pod-watcher', 'pod-watcher', 1),
      workloadOf('DaemonSet', 'ipledger-node-agent', 'node-agent'),
      {
        ...workloadOf('DaemonSet', 'kube-multus-ds', 'multus'),
        metadata: { name: 'kube-multus-ds', namespace: 'kube-system' },
      },
      backup,
      networkOf('lan', agent.socket),
      subnetOf('lan', '10.8.0.0/24'),
    ];
    await cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    const replicas = (count: number) => ({ replicas: count, readyReplicas: count, updatedReplicas: count });
    const daemons = {
      desiredNumberScheduled: 1,
      currentNumberScheduled: 1,
      numberMisscheduled: 0,
      numberReady: 1,
      updatedNumberScheduled: 1,
    };
    await Promise.all([
      ...['allocator-0', 'allocator-1', 'watcher', 'agent'].map((pod) => patchStatus(`pod/${pod}`, ready)),
      patchStatus('deployment/ipledger-allocator', replicas(2)),
      patchStatus('deployment/ipledger-pod-watcher', replicas(1)),
      patchStatus('daemonset/ipledger-node-agent', daemons),
      patchStatus('daemonset/kube-multus-ds', daemons, 'kube-system'),
    ]);
  }

  const patchStatus = (object: string, status: object, namespace = installed): Promise<string> =>
    cluster.kubectl([
      'patch',
      object,
      '-n',
      namespace,
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status }),
    ]);

  const doctor = (...args: string[]): Promise<CommandResult> =>
    runIpledger(['doctor', ...args], { allocator: { endpoint: endpoints.join(',') }, kubeconfig });

  /** Runs doctor. Returns findings and gaps as "severity where: what". */
  async function findings(...args: string[]): Promise<{ lines: string[]; code: number; text: string }> {
    const { code, stdout, stderr } = await doctor('-o', 'json', ...args);
    const { findings: found = [], gaps = [] } = JSON.parse(stdout === '' ? '{}' : stdout) as {
      findings?: { severity: string; where: string; what: string }[];
      gaps?: { part: string; reason: string }[];
    };
    const lines = [
      ...found.map(({ severity, where, what }) => `${severity} ${where}: ${what}`),
      ...gaps.map(({ part, reason }) => `gap ${part}: ${reason}`),
    ];
    return { code, lines, text: [...lines, stderr].join('\n') };
  }

  it('ipledger doctor waits for a new installation, and finds nothing on a healthy one, with read-only permissions', async () => {
    const script = documentedCommands('docs/install.md', 'doctor');
    const env = { KUBECONFIG: kubeconfig, IPLEDGER_ENDPOINT: endpoints.join(',') };
    const { code, stdout, stderr } = await runDocumented(run, script, env);
    expect({ code, stdout }, stderr).to.deep.equal({ code: 0, stdout: 'healthy\n' });
  });

  it('ipledger doctor finds each planted fault of an installation', async () => {
    const now = Date.now() / 1_000;
    const [writer, standby, node] = [pages['allocator-0'], pages['allocator-1'], pages.agent];
    const certificate = '{file="/tls/tls.crt"}';
    writer?.edits.set('ipledger_clock_', 'ipledger_clock_difference_seconds{clock="etcd-0:2379"} 61');
    writer?.edits.set('ipledger_certificate_', `ipledger_certificate_remaining_ratio${certificate} 0.04`);
    writer?.edits.set(
      'ipledger_certificate_expiry',
      `ipledger_certificate_expiry_timestamp_seconds${certificate} ${now + 300_000}`,
    );
    writer?.edits.set('ipledger_sealing', 'ipledger_sealing_failed{reason="other"} 1');
    standby?.edits.set('ipledger_is_leader', 'ipledger_is_leader 0');
    standby?.edits.set('ipledger_verified', `ipledger_verified_timestamp_seconds ${now - 200_000}`);
    writer?.edits.set('ipledger_is_leader', 'ipledger_is_leader 1');
    node?.edits.set('ipledger_plugin', 'ipledger_plugin_current 0');
    node?.edits.set('ipledger_build', 'ipledger_build_info{program="node-agent",version="0.0.9"} 1');
    const outOfUse = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] };
    const late = new Date(Date.now() - 3 * 3_600_000).toISOString();
    const bad = [
      networkOf('wrong', agent.socket, 'lan.default'),
      networkOf('alone', agent.socket),
      networkOf('deaf', '/run/other.sock'),
      { ...networkOf('broken', ''), spec: { config: '{ "type": ' } },
      subnetOf('deaf', '10.9.0.0/24'),
      subnetOf('refused', '10.8.0.0/33'),
    ];
    await Promise.all([
      cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: bad })),
      cluster.kubectl(['delete', 'clusterrolebinding', 'ipledger-pod-watcher']),
      cluster.kubectl(['delete', 'configmap', 'ipledger-checkpoints', '-n', installed]),
      cluster.kubectl(['delete', 'daemonset', 'kube-multus-ds', '-n', 'kube-system']),
      patchStatus('deployment/ipledger-allocator', { readyReplicas: 1 }),
      patchStatus('pod/agent', outOfUse),
      patchStatus('cronjob/ipledger-etcd-backup', { lastScheduleTime: late }),
    ]);
    await eventually(async () => {
      const subnet = (await cluster.get(['subnet', 'refused'])) as { status?: { conditions?: unknown[] } };
      expect(subnet.status?.conditions).to.not.equal(undefined);
    });

    const { code, lines, text } = await findings();
    expect(code).to.equal(1);
    const expected = [
      /^critical Node node-1: no agent: /, // 1
      /^critical ClusterRole ipledger-pod-watcher: Missing: the ClusterRoleBinding/, // 2
      /^critical Node node-1: Its CNI plugin is missing, or another file/, // 3
      /^warning Deployment ipledger-system\/ipledger-allocator: 1 of 2 Pods are ready/, // 4
      /^warning allocator allocator-0: The clock of allocator allocator-0 is 61 s from another clock/, // 5
      /^warning allocator allocator-0: The certificate \/tls\/tls\.crt of .* It expires in 3 days/, // 6
      /^warning allocator allocator-0: The writer cannot seal events/, // 7
      /^warning the ledger: None of 1 standbys has verified/, // 8
      /^warning checkpoints: The allocators sign checkpoints, and Kubernetes keeps none/, // 9
      /^warning versions: The programs differ\. .*0\.0\.9: 1 node-agent/, // 10
      /^warning CronJob ipledger-etcd-backup: The last scheduled backup/, // 11
      /^warning Multus: There is no DaemonSet/, // 12
      /^warning NetworkAttachmentDefinition default\/wrong: its provider is "lan.default", and must be "wrong.default"/, // 13
      /^warning NetworkAttachmentDefinition default\/alone: no Subnet has the provider alone.default/, // 14
      /^warning NetworkAttachmentDefinition default\/deaf: its server_socket is \/run\/other.sock/, // 15
      /^warning NetworkAttachmentDefinition default\/broken: its spec.config is not valid JSON/, // 16
      /^warning Subnet refused: It is not ready: /, // 17
    ];
    const missing = expected.filter((each) => !lines.some((line) => each.test(line)));
    expect(missing, text).to.deep.equal([]);
    const others = lines.filter((line) => !expected.some((each) => each.test(line)));
    expect(others, text).to.deep.equal([]);
  });

  it('ipledger doctor judges a sysdump bundle as the installation; the bundle has no secrets and, on request, no names', async () => {
    const secret = 'hunter2hunter2';
    const spied = networkOf('spied', agent.socket);
    const config = JSON.stringify({ ...(JSON.parse(spied.spec.config) as object), password: secret });
    const annotations = { 'k8s.v1.cni.cncf.io/networks': `[{"name":"nowhere","token":"${secret}"}]` };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'shopper', namespace: 'people', annotations },
      spec: { containers: [{ name: 'box', image: 'box', env: [{ name: 'KEY', value: secret }] }] },
    };
    const items = [{ ...spied, spec: { config } }, pod];
    await cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    const live = await findings();
    for (const more of [[], ['--hash-names']]) {
      const file = join(run.folder, `bundle${more.length}.tar.gz`);
      const dump = await runIpledger(['sysdump', '--file', file, '-o', 'json', ...more], {
        allocator: { endpoint: endpoints.join(',') },
        kubeconfig,
      });
      // Expects status 2, because this cluster has no kubelet for logs.
      expect(dump.code, dump.stderr).to.equal(2);
      expect(dump.stdout).to.match(/"part": "logs\/pod-watcher\/watcher.log"/);
      const files = readTar(gunzipSync(readFileSync(file)));
      expect([...files.keys()]).to.include.members(['facts.json', 'ledger/events.ndjson', 'ledger/subnets.json']);
      const everything = [...files.values()].map(String).join('\n');
      expect(everything).to.not.contain(secret);
      expect(everything.includes('shopper')).to.equal(more.length === 0);
      const offline = await findings('--bundle', file);
      expect(offline.lines).to.have.length(live.lines.length);
      if (more.length === 0) expect(offline.lines).to.deep.equal(live.lines);
      else expect(offline.text).to.not.match(/default\/(?:wrong|alone|deaf)|Node node-1/);
    }
  });

  it('ipledger doctor names what it cannot check while a definition, the writer and the pod-watcher are missing', async () => {
    await Promise.all([
      cluster.kubectl(['delete', 'crd', 'ippools.kubeovn.io']),
      watcher.stop(), // releases its Lease
      etcd.kill(),
    ]);
    await eventually(async () => {
      const { code, lines, text } = await findings();
      expect(code).to.equal(1);
      const expected = [
        /^critical CustomResourceDefinition ippools\.kubeovn\.io: There is none/, // 18
        /^critical Lease ipledger-pod-watcher: 0 pod-watchers are active/, // 19
        /^critical the ledger: Nothing can be written since .*no allocator is the writer|^gap allocators: /, // 20
        /^gap comparison: /,
      ];
      expect(
        expected.filter((each) => !lines.some((line) => each.test(line))),
        text,
      ).to.deep.equal([]);
    });
  });

  it('ipledger doctor exits with 2 if all programs are unavailable, and names each', async () => {
    const args = ['doctor', '--metrics', '127.0.0.1:1,[::1]:1'];
    const { code, stdout } = await runIpledger(args, { allocator: { endpoint: '127.0.0.1:1' } });
    expect(code).to.equal(2);
    expect(stdout).to.match(/^not looked at: Kubernetes: there is no kubeconfig/m);
    expect(stdout).to.match(/^not looked at: allocators, checkpoints: cannot reach the allocator at 127\.0\.0\.1:1/m);
    expect(stdout).to.match(/^not looked at: metrics of 127\.0\.0\.1:1: .*: start its program, or correct --metrics$/m);
    expect(stdout).to.match(/no finding; 5 parts could not be looked at\n$/);
  });
});
