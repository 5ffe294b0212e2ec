/** Tests the agent and the plugin on two real OVN nodes: NICs of type kube-ovn from ADD to DEL. */
import { expect } from 'chai';
import { eventually } from '../../../test/e2e/support/eventually.ts';
import {
  createNamespace,
  inNamespace,
  ip,
  type Namespace,
  probeMacvlan,
  removeNamespace,
} from '../../../test/harness/network/network-namespaces.ts';
import { openOvsRun } from '../../../lib/ovsdb/testing/test-database.ts';
import type { Run } from '../../../test/harness/run.ts';
import { buildPlugin, type PluginOutcome } from '../testing/plugin.fixture.ts';
import { portsOf } from './ovs-port.ts';
import { expectTransfer } from '../../../test/harness/network/tcp-transfer.ts';
import { expectPing, readLinks } from './testing/nic-probes.ts';
import {
  type AgentNode,
  callPlugin as runCommand,
  gateways,
  healthPort,
  makePod,
  makeUnderlay,
  type OvnCluster,
  provider,
  startOvnCluster,
  type TestPod,
} from './testing/ovn-cluster.ts';

/** Configures addresses in a Subnet whose gateway is not checked. */
const withoutGateway = {
  addresses: [
    { address: '172.17.0.201', cidr: '172.17.0.0/24', gateway: '' },
    { address: 'fd17::c9', cidr: 'fd17::/64', gateway: '' },
  ],
};
const transferBytes = 5_000_000;
/** Longer than the interval of two announcements. */
const announcementMs = 6_000;

describe('NICs of type kube-ovn', function () {
  this.timeout(180_000);
  let run: Run;
  let cluster: OvnCluster;
  let one: AgentNode;
  let two: AgentNode;

  before(async function () {
    run = openOvsRun(this);
    if (!(await probeMacvlan()).isAvailable) this.skip();
    buildPlugin();
    cluster = await startOvnCluster(run);
    [one, two] = cluster.nodes;
  });
  after(() => run?.end());

  /** The ADDs of the present case. */
  const adds: Parameters<typeof runCommand>[] = [];
  const callPlugin: typeof runCommand = (command, ...call) => {
    if (command === 'ADD') adds.push(['DEL', ...call]);
    return runCommand(command, ...call);
  };

  // Removes what a failed case leaves, and starts what it ended: the next cases expect no other
  // NIC.
  afterEach(async function () {
    const ended = adds.splice(0);
    if (this.currentTest?.isFailed() !== true) return;
    for (const { database, controller, agent } of cluster.nodes)
      for (const server of [database, controller, agent]) if (!server.isAlive) await server.start();
    for (const add of ended) await runCommand(...add);
  });

  const expectSuccess = ({ exitCode, stdout }: PluginOutcome): void => void expect(exitCode, stdout).to.equal(0);
  const detailsOf = ({ exitCode, json }: PluginOutcome): string => {
    expect(exitCode).to.not.equal(0);
    return `${String(json['msg'])}: ${String(json['details'])}`;
  };

  /** Lists what a node has of NICs: OVS interfaces with an iface-id, links, and QoS rows. */
  async function remainsOn(node: AgentNode): Promise<string[]> {
    const find = (table: string) =>
      node.vsctl(['--bare', '--columns=external_ids', 'find', table, 'external_ids:vendor=ipledger']);
    const rows = await Promise.all(['interface', 'port', 'qos', 'queue'].map(find));
    return [
      ...rows.join('\n').split('\n'),
      ...(await readLinks(node.namespace)).filter((name) => name.endsWith('_h')),
    ].filter((line) => line !== '');
  }

  const interfaceIds = async (node: AgentNode, host: string): Promise<string> =>
    node.vsctl(['get', 'interface', host, 'external_ids']);
  const hostLink = (pod: TestPod, name = 'net1'): string => `${pod.containerId.slice(0, 12 - name.length)}_${name}_h`;

  /** Resolves when no OVS port of the agent has this container. */
  const portIsGone = (node: AgentNode, pod: TestPod): Promise<true> =>
    node.ovs.when(() => portsOf(node.ovs, { ...pod, interface: 'net1' }).length === 0 || undefined, run.signal);

  const expectNeighbors = async (host: Namespace, mac: string): Promise<void> => {
    const neighbors = await ip(host, ['neigh']);
    for (const { address } of withoutGateway.addresses)
      expect(neighbors).to.contain(`${address} dev eth0 lladdr ${mac}`);
  };

  it('NICs of type kube-ovn connect two nodes, of which OVN knows one by chassis name and one by hostname', async () => {
    const a = await makePod(run, cluster, { name: 'a', chassis: 'node-1' });
    const b = await makePod(run, cluster, { name: 'b', chassis: 'node-2' });
    const [added, main] = await Promise.all([
      callPlugin('ADD', one, a),
      callPlugin('ADD', two, b, { interface: 'eth0' }),
    ]);
    for (const outcome of [added, main]) expectSuccess(outcome);
    expect(added.json['interfaces']).to.deep.equal([
      { name: 'net1', mac: a.mac, mtu: 1_400, sandbox: a.sandbox.path },
      { name: hostLink(a), mtu: 1_400 },
    ]);
    expect(added.json['ips']).to.deep.equal([
      { address: `${a.addresses[0]}/24`, interface: 0 },
      { address: `${a.addresses[1]}/64`, interface: 0 },
    ]);
    expect(await interfaceIds(one, hostLink(a)))
      .to.contain(`iface-id=${a.logicalPort}`)
      .and.contain('vendor=ipledger');

    // Waits until the tunnel knows the MAC of its other end: before, it drops packets.
    await expectPing(one.namespace, two.address);
    for (const family of [0, 1] as const) {
      const address = b.addresses[family];
      await expectPing(a.sandbox, address);
      await expectTransfer(run, { from: a.sandbox, to: b.sandbox, address, bytes: transferBytes });
    }

    const link = JSON.parse(await ip(b.sandbox, ['-json', 'link', 'show', 'dev', 'eth0'])) as object[];
    expect(link[0]).to.include({ address: b.mac, mtu: 1_400, operstate: 'UP' });
    const defaults = async (pod: TestPod): Promise<string> =>
      (await ip(pod.sandbox, ['route', 'show', 'default'])) +
      (await ip(pod.sandbox, ['-6', 'route', 'show', 'default']));
    expect(await defaults(a)).to.equal('');
    expect(await defaults(b))
      .to.contain(`via ${gateways[0]} dev eth0`)
      .and.contain(`via ${gateways[1]} dev eth0`);

    const prevResult = { ...added.json, cniVersion: '1.1.0' };
    expectSuccess(await callPlugin('CHECK', one, a, { conf: { prevResult } }));
    await one.vsctl(['set', 'interface', hostLink(a), 'external_ids:iface-id=other']);
    expect(detailsOf(await callPlugin('CHECK', one, a, { conf: { prevResult } }))).to.contain('iface-id of');
    await one.vsctl(['set', 'interface', hostLink(a), `external_ids:iface-id=${a.logicalPort}`]);

    const metrics = await inNamespace(one.namespace, ['curl', '-s', `http://127.0.0.1:${healthPort}/metrics`]);
    expect(metrics.stdout)
      .to.match(/^ipledger_ovs_ports 1$/m)
      .and.match(/data_path_seconds_count\{step="inside"\} 1/);

    for (const repetition of [1, 2]) {
      expectSuccess(await callPlugin('DEL', one, a));
      expect(await remainsOn(one), `DEL ${repetition}`).to.deep.equal([]);
    }
    expectSuccess(await callPlugin('DEL', two, b, { interface: 'eth0' }));
    expect(await remainsOn(two)).to.deep.equal([]);
  });

  it('A NIC of type kube-ovn replaces an older port of the same logical port, and has the rates, MTU and routes of Pod and Subnet', async () => {
    const rates = { [`${provider}.kubernetes.io/ingress_rate`]: '30', [`${provider}.kubernetes.io/egress_rate`]: '20' };
    const pod = await makePod(run, cluster, {
      name: 'c',
      chassis: 'node-1',
      annotations: rates,
      defaultRoute: true,
      routes: [{ dst: '192.168.0.101/24', gw: '172.17.0.254' }],
    });
    await ip(one.namespace, ['link', 'add', 'older', 'type', 'veth', 'peer', 'name', 'older-peer']);
    await one.vsctl(`add-port br-int older -- set interface older external_ids:iface-id=${pod.logicalPort}`.split(' '));
    cluster.objects.set('/apis/kubeovn.io/v1/subnets/lan', { spec: { mtu: 1_300 } });
    expectSuccess(await callPlugin('ADD', one, pod));
    cluster.objects.set('/apis/kubeovn.io/v1/subnets/lan', { spec: {} });
    expect(await one.vsctl(['list-ports', 'br-int']))
      .to.contain(hostLink(pod))
      .and.not.contain('older');
    expect(
      await one.vsctl(['get', 'interface', hostLink(pod), 'ingress_policing_rate', 'ingress_policing_burst']),
    ).to.equal('20000\n16000\n');
    expect(await one.vsctl(['--bare', '--columns=other_config', 'list', 'queue'])).to.equal('max-rate=30000000\n');
    const routes = await ip(pod.sandbox, ['route']);
    expect(routes).to.contain('192.168.0.0/24 via 172.17.0.254').and.contain(`default via ${gateways[0]}`);
    expect(await ip(pod.sandbox, ['link', 'show', 'net1'])).to.contain('mtu 1300');

    expectSuccess(await callPlugin('ADD', one, pod)); // a runtime repeats an ADD that was interrupted
    expect(await remainsOn(one)).to.have.length(5);
    expectSuccess(await callPlugin('DEL', one, pod));
    expect(await remainsOn(one)).to.deep.equal([]);
    await ip(one.namespace, ['link', 'delete', 'older']);
  });

  it('A failed NIC of type kube-ovn leaves nothing behind, and its error has the cause, if OVN does not connect it or the gateway is silent', async () => {
    await cluster.central.nbctl(['ls-add', 'unchecked']);
    await makeUnderlay(cluster, { subnet: 'unmapped', network: 'absent-net', spec: { mtu: 1_400 } });
    const [absent, elsewhere, silent, unmapped, unchecked] = await Promise.all([
      makePod(run, cluster, { name: 'absent', chassis: undefined }),
      makePod(run, cluster, { name: 'elsewhere', chassis: 'node-2' }),
      makePod(run, cluster, {
        name: 'silent',
        chassis: 'node-1',
        addresses: [{ address: '172.17.0.99', cidr: '172.17.0.0/24', gateway: '172.17.0.98' }],
      }),
      makePod(run, cluster, { name: 'unmapped', chassis: 'node-1', subnet: 'unmapped' }),
      makePod(run, cluster, {
        name: 'unchecked',
        chassis: 'node-1',
        subnet: 'unchecked',
        addresses: [{ address: '172.17.0.97', cidr: '172.17.0.0/24', gateway: '172.17.0.98' }],
      }),
    ]);
    cluster.objects.set('/apis/kubeovn.io/v1/subnets/unchecked', { spec: { disableGatewayCheck: true } });
    expectSuccess(await callPlugin('ADD', one, unchecked));
    expectSuccess(await callPlugin('DEL', one, unchecked));
    const idle = await makePod(run, cluster, { name: 'idle', chassis: 'node-2' });
    await two.controller.kill();
    const failures = [absent, elsewhere, silent, unmapped].map((pod) => callPlugin('ADD', one, pod));
    const outcomes = await Promise.all([...failures, callPlugin('ADD', two, idle)]);
    await two.controller.start();
    const [noPort = '', wrongNode = '', noGateway = '', noPatch = '', noController = ''] = outcomes.map(detailsOf);
    expect(noController).to.contain('ovn-controller has not claimed the port');
    expect(await remainsOn(two)).to.deep.equal([]);
    expect(noPort).to.contain(`OVN has no logical port absent.default.${provider}`);
    expect(wrongNode).to.contain('its requested-chassis is node-2, not node-1');
    expect(noPatch).to.contain('patch-localnet.unmapped-to-br-int is missing');
    expect(noGateway).to.contain('gateway 172.17.0.98 does not answer');
    expect(await remainsOn(one)).to.deep.equal([]);
    expect(cluster.allocator.unbinds.map(({ pod }) => pod)).to.include.members([
      'absent',
      'elsewhere',
      'silent',
      'unmapped',
    ]);
    for (const pod of [absent, elsewhere, silent, unmapped]) expect(await readLinks(pod.sandbox)).to.deep.equal(['lo']);
  });

  it('NICs of type kube-ovn announce their addresses on a physical network, with its MTU', async () => {
    const host = await createNamespace(run, 'host');
    await ip(one.namespace, `link add phys mtu 1450 type veth peer name eth0 mtu 1450 netns ${host.name}`.split(' '));
    await ip(one.namespace, ['link', 'set', 'phys', 'up']);
    // Lets the host learn addresses from announcements, its only way to learn them here.
    for (const setting of [
      'ipv4/conf/eth0/arp_accept',
      'ipv6/conf/eth0/accept_untracked_na',
      'ipv6/conf/eth0/forwarding',
    ])
      await inNamespace(host, ['sh', '-c', `echo 1 >/proc/sys/net/${setting}`]);
    for (const command of ['addr add 172.17.0.2/24 dev eth0', 'addr add fd17::2/64 dev eth0 nodad', 'link set eth0 up'])
      await ip(host, command.split(' '));
    await one.vsctl(
      'add-br br-phys -- set bridge br-phys datapath_type=netdev -- add-port br-phys phys -- set open_vswitch . external_ids:ovn-bridge-mappings=net-a:br-phys'.split(
        ' ',
      ),
    );
    await makeUnderlay(cluster, { subnet: 'under', network: 'net-a', spec: {} });
    const pod = await makePod(run, cluster, { name: 'under', chassis: 'node-1', subnet: 'under', ...withoutGateway });
    const added = await callPlugin('ADD', one, pod);
    expectSuccess(added);
    expect(added.json['interfaces']).to.have.nested.property('[0].mtu', 1_450);
    await eventually(() => expectNeighbors(host, pod.mac));
    await expectPing(host, '172.17.0.201');
    expectSuccess(await callPlugin('DEL', one, pod));

    // Loses the announcement of the ADD, as a physical network that OVN has not yet connected does.
    // Repeats the ADD, as a runtime may, if a busy machine is later than the second announcement.
    const later = await makePod(run, cluster, { name: 'later', chassis: 'node-1', subnet: 'under', ...withoutGateway });
    await eventually(async () => {
      await ip(host, ['link', 'set', 'eth0', 'down']);
      expectSuccess(await callPlugin('ADD', one, later));
      await ip(host, ['link', 'set', 'eth0', 'up']);
      await eventually(() => expectNeighbors(host, later.mac), announcementMs);
    });
    expectSuccess(await callPlugin('DEL', one, later));
  });

  it('A NIC of type kube-ovn stays when a container whose ID begins alike is refused and deleted', async () => {
    const first = await makePod(run, cluster, { name: 'first', chassis: 'node-1', containerId: 'abcdef00-first' });
    const second = await makePod(run, cluster, { name: 'second', chassis: 'node-1', containerId: 'abcdef00-second' });
    expectSuccess(await callPlugin('ADD', one, first));
    const before = await remainsOn(one);
    expect(detailsOf(await callPlugin('ADD', one, second))).to.contain('belongs to container abcdef00-first');
    expectSuccess(await callPlugin('DEL', one, second));
    expect(await remainsOn(one)).to.deep.equal(before);
    expectSuccess(await callPlugin('DEL', one, first));
    expect(await remainsOn(one)).to.deep.equal([]);
  });

  it('NICs of type kube-ovn are removed by GC when their sandbox is deleted, and at the next start of an agent that was killed during an ADD', async () => {
    const kept = await makePod(run, cluster, { name: 'kept', chassis: 'node-1' });
    const stale = await makePod(run, cluster, { name: 'stale', chassis: 'node-1' });
    for (const pod of [kept, stale]) expectSuccess(await callPlugin('ADD', one, pod));
    await removeNamespace(stale.sandbox);
    const valid = { 'cni.dev/valid-attachments': [] };
    expectSuccess(await callPlugin('GC', one, kept, { conf: valid }));
    expect((await remainsOn(one)).join(' '))
      .to.contain(kept.containerId)
      .and.not.contain(stale.containerId);

    const killed = await makePod(run, cluster, { name: 'killed', chassis: undefined });
    const adding = callPlugin('ADD', one, killed);
    await one.ovs.when(() => portsOf(one.ovs, { ...killed, interface: 'net1' })[0], run.signal);
    await one.agent.kill();
    await removeNamespace(killed.sandbox);
    await one.agent.start();
    // The plugin repeats the ADD at the next agent, which finds no sandbox.
    expect(detailsOf(await adding)).to.contain('ENOENT');
    await portIsGone(one, killed);
    expect((await remainsOn(one)).join(' '))
      .to.contain(kept.containerId)
      .and.not.contain(killed.containerId);
    expectSuccess(await callPlugin('DEL', one, kept));
    expect(await remainsOn(one)).to.deep.equal([]);
  });

  it('NICs of type kube-ovn fail with the remedy while the Open vSwitch database is down, and a DEL is completed afterwards', async () => {
    const deleted = await makePod(run, cluster, { name: 'deleted', chassis: 'node-2' });
    const added = await makePod(run, cluster, { name: 'added', chassis: 'node-2' });
    expectSuccess(await callPlugin('ADD', two, deleted));
    await two.database.stop();
    expectSuccess(await callPlugin('DEL', two, deleted));
    expect((await readLinks(two.namespace)).filter((name) => name.endsWith('_h'))).to.deep.equal([]);
    expect(detailsOf(await callPlugin('ADD', two, added)))
      .to.contain('no connection to the Open vSwitch database')
      .and.contain('Start ovsdb-server');
    expect(detailsOf(await callPlugin('STATUS', two, added))).to.contain('no connection to the Open vSwitch database');
    await two.database.start();
    await portIsGone(two, deleted);
    expect(await remainsOn(two)).to.deep.equal([]);
    expectSuccess(await callPlugin('STATUS', two, added));
    expectSuccess(await callPlugin('ADD', two, added));
    expectSuccess(await callPlugin('DEL', two, added));
  });
});
