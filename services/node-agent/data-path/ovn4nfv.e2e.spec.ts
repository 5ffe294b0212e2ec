/** Tests the agent and the plugin on real OVN nodes: all NICs of an OVN4NFV request in one ADD. */
import { expect } from 'chai';
import { ovn4nfvProvider } from '../../../lib/kubernetes/served-network.ts';
import { logicalPortName } from '../../../lib/ovn/names.ts';
import { openOvsRun } from '../../../lib/ovsdb/testing/test-database.ts';
import type { MessageInput } from '../../../proto/codec.ts';
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import { createNamespace, ip, probeMacvlan } from '../../../test/harness/network/network-namespaces.ts';
import type { Run } from '../../../test/harness/run.ts';
import { buildPlugin, type PluginOutcome } from '../testing/plugin.fixture.ts';
import { expectPing, readLinks } from './testing/nic-probes.ts';
import { type AgentNode, callPlugin, type OvnCluster, startOvnCluster, type TestPod } from './testing/ovn-cluster.ts';

const types = ['ovn4nfvk8s-cni', 'ovn-k8s-cni-overlay'] as const;
const networks = [
  { name: 'ovn-ls-25', interface: 'net0', prefix: '172.16.25' },
  { name: 'ovn-ls-26', interface: 'net1', prefix: '172.16.26' },
] as const;

describe('NICs of an OVN4NFV request', function () {
  this.timeout(180_000);
  let run: Run;
  let cluster: OvnCluster;
  let node: AgentNode;
  let count = 0;

  before(async function () {
    run = openOvsRun(this);
    if (!(await probeMacvlan()).isAvailable) this.skip();
    buildPlugin();
    cluster = await startOvnCluster(run);
    [node] = cluster.nodes;
    for (const [index, { name, prefix }] of networks.entries()) {
      const router = `lrp-add router router-${name} 02:00:00:00:01:0${index} ${prefix}.1/24`;
      const port = `lsp-add ${name} ${name}-router -- lsp-set-type ${name}-router router`;
      const options = `lsp-set-addresses ${name}-router router -- lsp-set-options ${name}-router router-port=router-${name}`;
      await cluster.central.nbctl(`ls-add ${name} -- ${router} -- ${port} -- ${options}`.split(' '));
      cluster.objects.set(`/apis/kubeovn.io/v1/subnets/${name}`, { spec: { cidrBlock: `${prefix}.0/24` } });
    }
  });
  after(() => run?.end());

  /** Makes a Pod with the request of the document. Networks in `without` get no logical port. */
  async function makePod(name: string, without: readonly string[] = []): Promise<TestPod & { hosts: string[] }> {
    const number = 10 + (count += 1);
    const ovnNetwork = JSON.stringify(networks.map((each) => ({ name: each.name, interface: each.interface })));
    const annotations = { ovnNetwork };
    cluster.objects.set(`/api/v1/namespaces/default/pods/${name}`, { metadata: { uid: `u-${name}`, annotations } });
    const allocations = new Map<string, MessageInput<Allocation>>();
    for (const [ordinal, { name: subnet, interface: nic, prefix }] of networks.entries()) {
      const attachment = { namespace: 'default', pod: name, provider: ovn4nfvProvider, ordinal };
      const mac = `0a:00:00:00:${ordinal}0:${number}`;
      const [address, cidr, gateway] = [`${prefix}.${number}`, `${prefix}.0/24`, `${prefix}.1`];
      allocations.set(nic, {
        seq: 7 + ordinal,
        attachment,
        subnet,
        mac,
        interface: nic,
        addresses: [{ address, cidr, gateway }],
        bindings: [{ containerId: `${number}c0ffee${name}`, interface: nic }],
      });
      const port = logicalPortName(attachment);
      if (!without.includes(subnet))
        await cluster.central.nbctl(
          `lsp-add ${subnet} ${port} -- lsp-set-options ${port} requested-chassis=node-1 -- lsp-set-addresses ${port}`
            .split(' ')
            .concat(`${mac} ${address}`),
        );
    }
    const others = cluster.allocator.allocate;
    cluster.allocator.allocate = (request) =>
      request.pod === name ? (allocations.get(request.interface) ?? {}) : others(request);
    const sandbox = await createNamespace(run, `pod-${name}`);
    const containerId = `${number}c0ffee${name}`;
    const hosts = networks.map((each) => `${containerId.slice(0, 8)}_${each.interface}_h`);
    return { name, sandbox, containerId, logicalPort: '', mac: '', addresses: ['', ''], hosts };
  }

  /** Calls the plugin as a runtime does for the document's NAD, whose interface is eth1. */
  const call = (command: string, pod: TestPod, type: string, more: object = {}): Promise<PluginOutcome> =>
    callPlugin(command, node, pod, {
      interface: 'eth1',
      conf: { name: 'ovn-kubernetes', type, provider: undefined, ...more },
    });

  const hostLinks = async (): Promise<string[]> =>
    (await readLinks(node.namespace)).filter((name) => name.endsWith('_h'));
  const ovsPorts = async (): Promise<string> =>
    node.vsctl(['--bare', '--columns=external_ids', 'find', 'interface', 'external_ids:vendor=ipledger']);

  for (const type of types)
    it(`One ADD of type ${type} makes all NICs of an OVN4NFV request, which reach their networks, and one DEL removes them`, async () => {
      const [one, two] = [await makePod(`${type}-a`), await makePod(`${type}-b`)];
      const added = await call('ADD', one, type);
      expect(added.exitCode, added.stdout).to.equal(0);
      expect(added.json['interfaces']).to.have.length(4);
      const [net0, , net1] = added.json['interfaces'] as { name: string; sandbox?: string }[];
      expect(net0).to.include({ name: 'net0', sandbox: one.sandbox.path });
      expect(net1).to.include({ name: 'net1', sandbox: one.sandbox.path });
      const ips = added.json['ips'] as { address: string; interface: number }[];
      expect(ips.map((each) => [each.address.replace(/\d+\/24$/, ''), each.interface])).to.deep.equal([
        ['172.16.25.', 0],
        ['172.16.26.', 2],
      ]);
      expect(await readLinks(one.sandbox))
        .to.include.members(['net0', 'net1'])
        .and.not.include('eth1');
      expect((await call('ADD', two, type)).exitCode).to.equal(0);
      for (const { prefix } of networks) await expectPing(one.sandbox, `${prefix}.${10 + count}`);
      const check = await call('CHECK', one, type, { prevResult: { ...added.json, cniVersion: '1.1.0' } });
      expect(check.exitCode, check.stdout).to.equal(0);

      const bound = cluster.allocator.binds.filter(({ pod }) => pod === one.name);
      expect(bound.map((each) => each.interface).sort()).to.deep.equal(['net0', 'net1']);
      expect(await hostLinks()).to.have.members([...one.hosts, ...two.hosts]);
      for (const pod of [one, two]) expect((await call('DEL', pod, type)).exitCode).to.equal(0);
      const unbound = cluster.allocator.unbinds.filter(({ pod }) => pod === one.name);
      expect(unbound.map((each) => each.interface).sort()).to.deep.equal(['net0', 'net1']);
      expect([await hostLinks(), (await ovsPorts()).trim()]).to.deep.equal([[], '']);
      expect((await call('DEL', one, type)).exitCode, 'a repeated DEL').to.equal(0);
    });

  it('The NICs of an OVN4NFV request are removed, with bindings and ports, when the second NIC fails', async () => {
    const pod = await makePod('half', ['ovn-ls-26']);
    // Returns quickly: the agent does not wait for a port that OVN will not connect.
    const added = await call('ADD', pod, 'ovn4nfvk8s-cni');
    expect(added.exitCode).to.not.equal(0);
    expect(added.stdout).to.contain('net1');
    expect(await readLinks(pod.sandbox)).to.not.include('net0');
    expect([await hostLinks(), (await ovsPorts()).trim()]).to.deep.equal([[], '']);
    const unbound = cluster.allocator.unbinds.filter((each) => each.pod === 'half');
    expect(new Set(unbound.map((each) => each.interface))).to.deep.equal(new Set(['net0', 'net1']));
  });

  it('The NICs of an OVN4NFV request fail together when one cannot be configured in the sandbox', async () => {
    const pod = await makePod('taken');
    await ip(pod.sandbox, ['link', 'add', 'net1', 'type', 'veth', 'peer', 'name', 'other']);
    const added = await call('ADD', pod, 'ovn4nfvk8s-cni');
    expect(added.exitCode, added.stdout).to.not.equal(0);
    expect(await readLinks(pod.sandbox)).to.not.include('net0');
    expect([await hostLinks(), (await ovsPorts()).trim()]).to.deep.equal([[], '']);
  });

  it('The NICs of an OVN4NFV request are all removed by one DEL after the agent was killed and the Pod was deleted', async () => {
    const pod = await makePod('orphan');
    expect((await call('ADD', pod, 'ovn4nfvk8s-cni')).exitCode).to.equal(0);
    await node.agent.kill();
    cluster.objects.delete('/api/v1/namespaces/default/pods/orphan');
    await node.agent.start();
    expect((await call('DEL', pod, 'ovn4nfvk8s-cni')).exitCode).to.equal(0);
    expect([await hostLinks(), (await ovsPorts()).trim()]).to.deep.equal([[], '']);
    const unbound = cluster.allocator.unbinds.filter((each) => each.pod === 'orphan');
    expect(unbound.map((each) => each.interface).sort()).to.deep.equal(['net0', 'net1']);
  });

  it('An OVN4NFV configuration that names a network makes the NICs of that network alone', async () => {
    const pod = await makePod('one');
    const added = await call('ADD', pod, 'ovn4nfvk8s-cni', { 'nfn-network': 'ovn-ls-26' });
    expect(added.exitCode, added.stdout).to.equal(0);
    expect(await readLinks(pod.sandbox))
      .to.include('net1')
      .and.not.include('net0');
    await ip(pod.sandbox, ['link', 'show', 'dev', 'net1']);
    expect((await call('DEL', pod, 'ovn4nfvk8s-cni')).exitCode).to.equal(0);
    expect(await hostLinks()).to.deep.equal([]);
  });
});
