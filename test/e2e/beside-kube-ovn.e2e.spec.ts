/**
 * Tests ipledger beside Kube-OVN's controller, which keeps its own objects and networks, with the
 * permissions of the chart.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { withOwnObjects } from '../../lib/kubernetes/beside-kube-ovn.ts';
import { namespace, parseManifests, renderChart } from '../chart/render-chart.ts';
import { callPlugin, kubeOvnPlugin, podArgs } from '../harness/cni.ts';
import { runIpledger } from '../harness/ipledger-cli.ts';
import { applyCrds } from '../harness/kubernetes/kubectl.ts';
import { ownDefinitions } from '../harness/kubernetes/own-definitions.ts';
import { borrowCluster } from '../harness/kubernetes/shared-cluster.ts';
import { root } from '../harness/paths.ts';
import { findFreePort } from '../harness/processes/free-ports.ts';
import { type Server, startServer } from '../harness/processes/server.ts';
import { openRun, type Run } from '../harness/run.ts';
import { type AgentServer, startAgent, watcherLaunch } from '../harness/services.ts';
import { startLedger } from '../harness/stack.ts';
import { eventually } from './support/eventually.ts';
import { type KubeOvnStandIn, startKubeOvnStandIn } from './support/kube-ovn-stand-in.ts';
import { createKubernetesClient, type KubernetesClient } from '../harness/kubernetes/kubernetes-client.ts';
import { resultAddresses } from './support/plugin-call.ts';
import { networksAnnotation, waitForEvent } from './support/test-environment.ts';

describe('beside Kube-OVN', function () {
  this.timeout(180_000);
  let run: Run;
  /** A client for the objects of Kube-OVN; `own` is for those of ipledger. */
  let kubernetes: KubernetesClient;
  let own: KubernetesClient;
  let kubeOvn: KubeOvnStandIn;
  let agent: AgentServer;
  let watcher: Server;
  let kubeconfig: string;
  let endpoint: string;

  before(async () => {
    run = openRun();
    const [cluster, [, allocator]] = await Promise.all([borrowCluster(run), startLedger(run)]);
    kubernetes = createKubernetesClient(cluster.kubeconfig, run.signal);
    own = createKubernetesClient(cluster.kubeconfig, run.signal, withOwnObjects);
    const folder = join(run.folder, 'definitions');
    mkdirSync(folder);
    for (const [name, text] of ownDefinitions()) writeFileSync(join(folder, name), text);
    await applyCrds(
      cluster.kubectl,
      ownDefinitions().map(([name]) => join(folder, name)),
    );
    const values = ['deploy/single/values.yaml', 'test/chart/values/beside-kube-ovn.yaml'].map((each) =>
      join(root, each),
    );
    const permissions = parseManifests(await renderChart(values)).filter(({ kind }) =>
      /^(ServiceAccount|(Cluster)?Role(Binding)?|ValidatingAdmissionPolicy(Binding)?)$/.test(kind),
    );
    const home = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    await cluster.apply([home, ...permissions].map((each) => stringify(each)).join('---\n'));
    await kubernetes.create({ kind: 'Subnet', metadata: { name: 'lan' }, spec: { ...lan, provider: 'lan.default' } });
    await kubernetes.create(networkOf('kube-ovn'));
    kubeOvn = startKubeOvnStandIn(kubernetes, run.signal);

    const account = `system:serviceaccount:${namespace}:ipledger-pod-watcher`;
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
    const launch = watcherLaunch({
      name: 'pod-watcher',
      allocator: allocator.endpoint,
      kubeconfig: await cluster.kubeconfigFor(account, groups),
      healthListen: `127.0.0.1:${await findFreePort()}`,
      besideKubeOvn: true,
    });
    [kubeconfig, endpoint] = [cluster.kubeconfig, allocator.endpoint];
    watcher = await startServer(run, { ...launch, env: { ...launch.env, IPLEDGER_NAMESPACE: namespace } });
    agent = await startAgent(run, { allocator, cluster, node: 'node-1' });
  });
  after(async () => {
    await run.end();
    await kubeOvn.ended;
  });

  const lan = { cidrBlock: '172.17.0.0/24', gateway: '172.17.0.1', protocol: 'IPv4' };
  const ipamOf = (type: string) => ({ type, provider: 'lan.default' });
  const networkOf = (type: string) => ({
    kind: 'NetworkAttachmentDefinition' as const,
    metadata: { name: 'lan' },
    spec: { config: JSON.stringify({ cniVersion: '1.0.0', type: 'macvlan', ipam: ipamOf(type) }) },
  });
  const makePod = (name: string) =>
    kubernetes.create({
      kind: 'Pod',
      metadata: { name, annotations: { [networksAnnotation]: 'lan' } },
      spec: { nodeName: 'node-1', restartPolicy: 'Never', containers: [{ name: 'box', image: 'box' }] },
    });
  const annotationsOf = async (pod: string): Promise<Readonly<Record<string, string>>> =>
    (await kubernetes.get('Pod', pod)).metadata.annotations ?? {};
  const waitForAddress = (pod: string): Promise<string> =>
    eventually(async () => {
      const address = (await annotationsOf(pod))['lan.default.kubernetes.io/ip_address'];
      if (address === undefined) throw new Error(`Pod ${pod} has no address`);
      return address;
    });

  it('a network moves from Kube-OVN to the ledger: its Pods keep their addresses, and new Pods get other addresses', async () => {
    // Given: a Pod has an address from Kube-OVN.
    await makePod('old');
    expect(await waitForAddress('old')).to.equal('172.17.0.2');

    // Given: ipledger's Subnet with that address is refused: Kube-OVN may allocate more.
    await own.create({ kind: 'Subnet', metadata: { name: 'lan' }, spec: { ...lan, provider: 'lan.default' } });
    const given = /Kube-OVN's Subnet lan has given 172\.17\.0\.2: add "172\.17\.0\.2" to spec\.excludeIps/;
    await waitForEvent({ kubernetes }, 'lan', 'ValidateLogicalSwitchFailed', given);
    await makePod('second');
    expect(await waitForAddress('second')).to.equal('172.17.0.3');

    // When: the network names ipledger's plugin, and the Subnet excludes Kube-OVN's allocations.
    const { spec } = networkOf('ipledger');
    await kubernetes.patch('NetworkAttachmentDefinition', 'lan', { spec });
    await own.patch('Subnet', 'lan', { spec: { excludeIps: ['172.17.0.2..172.17.0.3'] } });
    await makePod('new');

    // Then: the ledger allocates the next address, also for the plugin on the node.
    expect(await waitForAddress('new')).to.equal('172.17.0.4');
    const answer = await callPlugin({
      command: 'ADD',
      plugin: kubeOvnPlugin,
      config: {
        cniVersion: '1.0.0',
        name: 'lan',
        type: 'macvlan',
        ipam: { ...ipamOf('ipledger'), server_socket: agent.socket },
      },
      containerId: 'container-of-new',
      netns: '/var/run/netns/nowhere',
      ifName: 'net1',
      args: podArgs('default', 'new'),
      pendingDels: agent.pendingDels,
    });
    expect(resultAddresses(answer)).to.deep.equal(['172.17.0.4/24']);
    await eventually(async () => {
      const { status } = await own.get('Subnet', 'lan');
      expect(status).to.include({ v4usingIPs: 1 });
    });
  });

  it('the ledger imports the addresses of running Pods when the watcher starts again', async () => {
    await watcher.stop();
    await watcher.start();
    await eventually(async () => {
      const shown = (await own.list('IP')).map(({ metadata, spec }) => [metadata.name, spec?.['ipAddress']]);
      expect(shown).to.have.deep.members([
        ['old.default.lan.default', '172.17.0.2'],
        ['second.default.lan.default', '172.17.0.3'],
        ['new.default.lan.default', '172.17.0.4'],
      ]);
    });
    await eventually(async () => {
      const { code, stdout, stderr } = await runIpledger(['check'], { allocator: { endpoint }, kubeconfig });
      expect(code, stdout + stderr).to.equal(0);
    });
  });

  it('no object is written by both ipledger and Kube-OVN', async () => {
    expect([...kubeOvn.strangers]).to.deep.equal([]);
    const { metadata, status } = await kubernetes.get('Subnet', 'lan');
    expect(metadata.finalizers).to.deep.equal(['kubeovn.io/kube-ovn-controller']);
    expect(status).to.include({ v4usingIPs: 2 });
    expect((await own.get('Subnet', 'lan')).metadata.finalizers).to.deep.equal(['ipledger.io/ledger']);
  });

  it('a Pod with an address of the ledger keeps the annotations of Kube-OVN', async () => {
    for (const pod of ['old', 'new'])
      expect(await annotationsOf(pod)).to.include({
        'ovn.kubernetes.io/allocated': 'true',
        'ovn.kubernetes.io/ip_address': '10.16.0.9',
        'ovn.kubernetes.io/logical_switch': 'ovn-default',
      });
    expect(await annotationsOf('old')).to.include({ 'lan.default.kubernetes.io/ip_address': '172.17.0.2' });
  });

  it('a Subnet in force allocates no new address while a later Subnet of Kube-OVN may allocate the same address', async () => {
    const later = { ...lan, cidrBlock: '172.17.0.128/25', gateway: '172.17.0.129', provider: 'later.default' };
    await kubernetes.create({ kind: 'Subnet', metadata: { name: 'later' }, spec: later });
    const offers = (v4availableIPrange: string) =>
      kubernetes.patch('Subnet', 'later', { status: { v4availableIPrange } }, 'status');
    await offers('172.17.0.130-172.17.0.254');
    await waitForEvent({ kubernetes }, 'lan', 'ValidateLogicalSwitchFailed', /^Kube-OVN's Subnet later .* may give/);
    await makePod('waits');
    const why =
      /Subnet lan gives no new address: Kube-OVN's Subnet later .* may give 172\.17\.0\.130\.\.172\.17\.0\.254/;
    await waitForEvent({ kubernetes }, 'waits', 'PodNetworkUpdateFailed', why);
    await offers('');
    expect(await waitForAddress('waits')).to.equal('172.17.0.5');
  });

  it('a Subnet with the provider of a Kube-OVN network is refused', async () => {
    const spec = { ...lan, cidrBlock: '10.99.0.0/24', gateway: '10.99.0.1', provider: 'net.default.ovn' };
    await own.create({ kind: 'Subnet', metadata: { name: 'overlay' }, spec });
    await waitForEvent(
      { kubernetes },
      'overlay',
      'ValidateLogicalSwitchFailed',
      /^Kube-OVN serves provider net\.default\.ovn/,
    );
    const { status = {} } = await own.get('Subnet', 'overlay');
    const conditions = status['conditions'] as { type: string; status: string }[];
    expect(conditions.find(({ type }) => type === 'Ready')).to.include({ status: 'False' });
  });
});
