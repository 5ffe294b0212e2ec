/**
 * Tests physical networks on two real OVN nodes: the bridge of each node, and VLAN traffic between
 * them.
 */
import { expect } from 'chai';
import { pino } from 'pino';
import { openOvsRun } from '../../../lib/ovsdb/testing/test-database.ts';
import { type OvnCentral, startOvnCentral } from '../../../test/harness/ovn/ovn-central.ts';
import { type OvnNode, startOvnNode } from '../../../test/harness/ovn/ovn-node.ts';
import { expectTransfer } from '../../../test/harness/network/tcp-transfer.ts';
import { attachPod, detachPod } from '../../../test/harness/ovn/pod-port.ts';
import { inNamespace, ip, probeMacvlan } from '../../../test/harness/network/network-namespaces.ts';
import type { Run } from '../../../test/harness/run.ts';
import { OvsDatabase } from '../ovs/ovs-database.ts';
import { UnderlayKeeper } from './keep-underlay.ts';
import { parseNodeLinks } from './node-links.ts';

const log = pino({ level: 'silent' });
const vlan = 100;
const ports = [
  { name: 'a', mac: '02:00:00:00:00:31', address: '172.18.0.31' },
  { name: 'b', mac: '02:00:00:00:00:32', address: '172.18.0.32' },
] as const;

describe('The physical networks of two OVN nodes', function () {
  this.timeout(120_000);
  let run: Run;
  let central: OvnCentral;
  let nodes: OvnNode[];
  let keepers: UnderlayKeeper[];
  let databases: OvsDatabase[];
  /** The ProviderNetworks of the cluster. */
  let networks: object[];

  const reconcile = () => Promise.all(keepers.map((keeper) => keeper.reconcile(run.signal)));
  const providerNetwork = (spec: object): object => ({ metadata: { name: 'net1' }, spec });
  const mappingsOf = async ({ vsctl }: OvnNode): Promise<string> =>
    (await vsctl(['--if-exists', 'get', 'open_vswitch', '.', 'external_ids:ovn-bridge-mappings'])).trim();

  before(async function () {
    run = openOvsRun(this);
    if (!(await probeMacvlan()).isAvailable) this.skip();
    central = await startOvnCentral(run);
    nodes = await Promise.all([1, 2].map((number) => startOvnNode(run, { number, central, nics: ['eth1', 'eth2'] })));
    databases = nodes.map(({ database }) => new OvsDatabase({ endpoint: database.unix, log, signal: run.signal }));
    keepers = nodes.map(
      ({ name, namespace }, index) =>
        new UnderlayKeeper({
          ovs: databases[index] as OvsDatabase,
          get: () => Promise.resolve({ items: networks }),
          node: name,
          log,
          links: {
            read: async () => parseNodeLinks(await ip(namespace, ['-json', 'address', 'show'])),
            setUp: async (link) => void (await ip(namespace, ['link', 'set', link, 'up'])),
          },
        }),
    );
    for (const { vsctl } of nodes)
      await vsctl(['set', 'open_vswitch', '.', 'external_ids:ovn-bridge-mappings=physnet:br-ex']);
    for (const { namespace } of nodes) await ip(namespace, ['link', 'set', 'eth1', 'down']);
  });
  after(() => run?.end());

  it('The physical networks of two OVN nodes have a bridge with the NIC, and a mapping beside the mappings of others', async () => {
    networks = [providerNetwork({ defaultInterface: 'eth1' })];
    const plans = await reconcile();
    expect(plans.map((plan) => plan?.served)).to.deep.equal([['net1'], ['net1']]);
    for (const node of nodes) {
      expect((await node.vsctl(['port-to-br', 'eth1'])).trim()).to.equal('br-net1');
      expect(await mappingsOf(node)).to.equal('"physnet:br-ex,net1:br-net1"');
      expect(await ip(node.namespace, ['link', 'show', 'eth1'])).to.contain('UP');
    }
  });

  it('The physical networks of two OVN nodes do not change in a second run', async () => {
    expect((await reconcile()).map((plan) => plan?.changes)).to.deep.equal([[], []]);
    expect(keepers[0]?.status).to.deep.equal({ served: 1, refused: 0 });
  });

  it('The physical networks of two OVN nodes replace the NIC when the network names another NIC', async () => {
    networks = [
      providerNetwork({
        defaultInterface: 'eth1',
        customInterfaces: [{ interface: 'eth2', nodes: ['node-1', 'node-2'] }],
      }),
    ];
    await reconcile();
    for (const { vsctl } of nodes) expect((await vsctl(['list-ports', 'br-net1'])).trim()).to.equal('eth2');
    networks = [providerNetwork({ defaultInterface: 'eth1' })];
    await reconcile();
    for (const { vsctl } of nodes) expect((await vsctl(['list-ports', 'br-net1'])).trim()).to.equal('eth1');
  });

  it('The physical networks of two OVN nodes carry the VLAN of a localnet port between the nodes, by ping and TCP', async () => {
    const [one, two] = nodes as [OvnNode, OvnNode];
    const localnet = ['lsp-add', 'lan', 'localnet.lan', '--', 'lsp-set-type', 'localnet.lan', 'localnet', '--'];
    const options = [
      'lsp-set-options',
      'localnet.lan',
      'network_name=net1',
      '--',
      'lsp-set-addresses',
      'localnet.lan',
      'unknown',
    ];
    const tag = ['--', 'set', 'logical_switch_port', 'localnet.lan', `tag=${vlan}`];
    const added = ports.flatMap(({ name, mac, address }) =>
      ['--', 'lsp-add', 'lan', name, '--', 'lsp-set-addresses', name].concat(`${mac} ${address}`),
    );
    await central.nbctl(['--wait=sb', 'ls-add', 'lan', '--', ...localnet, ...options, ...tag, ...added]);
    const [a, b] = await Promise.all([attachPod(run, one, ports[0]), attachPod(run, two, ports[1])]);
    await central.nbctl(['--wait=hv', 'sync']);
    const ping = await inNamespace(a, ['ping', '-c', '1', '-w', '30', ports[1].address]);
    expect(ping.code, ping.stdout).to.equal(0);
    await expectTransfer(run, { from: a, to: b, address: ports[1].address, bytes: 1_000_000 });
    // Expects that the bridge has learned the MAC of the other node's Pod in the VLAN, at its NIC.
    const learned = await one.appctl(['fdb/show', 'br-net1']);
    expect(learned).to.match(new RegExp(String.raw`\s${vlan}\s+${ports[1].mac}\s`));
  });

  it('The physical networks of two OVN nodes keep the bridge of a deleted network while OVN uses it', async () => {
    networks = [];
    expect((await reconcile()).map((plan) => plan?.changes)).to.deep.equal([[], []]);
    await Promise.all(ports.map((port, index) => detachPod(nodes[index] as OvnNode, port)));
    await central.nbctl(['ls-del', 'lan']);
    // Waits for ovn-controller, which removes no port in the first seconds. Each sync wakes it.
    while (databases.some((ovs) => ovs.named('Port', 'patch-localnet.lan-to-br-int')))
      await central.nbctl(['--wait=hv', 'sync']);
    await reconcile();
    for (const node of nodes) {
      expect(await node.vsctl(['list-br'])).to.not.contain('br-net1');
      expect(await mappingsOf(node)).to.equal('"physnet:br-ex"');
      expect(await node.vsctl(['list-ports', 'br-ex'])).to.contain('eth0');
    }
  });

  it('The physical networks of two OVN nodes are refused for a NIC with an address, and nothing changes', async () => {
    const [one] = nodes as [OvnNode];
    await ip(one.namespace, ['addr', 'add', '10.77.0.1/24', 'dev', 'eth1']);
    networks = [providerNetwork({ defaultInterface: 'eth1', excludeNodes: ['node-2'] })];
    const [plan] = await reconcile();
    expect(plan?.changes).to.deep.equal([]);
    expect(plan?.refusals[0]?.problem).to.contain('its NIC eth1 has the address 10.77.0.1');
    expect(await one.vsctl(['list-br'])).to.not.contain('br-net1');
  });
});
