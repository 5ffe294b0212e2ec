/**
 * NICs of Kube-OVN's own type on two nodes: the manifests of the documents, and the traffic of
 * their Pods.
 */
import { expect } from 'chai';
import { eventually } from '../e2e/support/eventually.ts';
import { inNamespace } from '../harness/network/network-namespaces.ts';
import { expectTransfer } from '../harness/network/tcp-transfer.ts';
import {
  addressOf,
  applyDocument,
  type AttachedPod,
  createPod,
  expectPings,
  isAnswered,
  type OvnEnvironment,
  removePod,
  waitForPod,
} from './ovn-environment.ts';
import { describeOnOvn } from './ovn-suite.ts';

const documents = 'manage-multiple-interface';
const bytes = 5_000_000;

/** Creates a NetworkAttachmentDefinition of type kube-ovn, and its Subnet. */
async function createNetwork({ kubernetes }: OvnEnvironment, name: string, subnet: object): Promise<void> {
  const provider = `${name}.default.ovn`;
  const config = JSON.stringify({
    cniVersion: '0.3.1',
    type: 'kube-ovn',
    server_socket: '/run/openvswitch/kube-ovn-daemon.sock',
    provider,
  });
  await kubernetes.create({ kind: 'NetworkAttachmentDefinition', metadata: { name }, spec: { config } });
  await kubernetes.create({ kind: 'Subnet', metadata: { name }, spec: { provider, ...subnet } });
}

/** Expects pings and 5 MB by TCP to arrive in both directions. */
async function expectTraffic({ run }: OvnEnvironment, one: AttachedPod, other: AttachedPod, version: 4 | 6 = 4) {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    const address = addressOf(to, 'net1', version);
    await expectPings(from, address);
    await expectTransfer(run, { from: from.network, to: to.network, address, bytes });
  }
}

const macOf = async ({ network }: AttachedPod, nic: string): Promise<string | undefined> => {
  const { stdout } = await inNamespace(network, ['ip', '-json', 'link', 'show', 'dev', nic]);
  return (JSON.parse(stdout) as { address: string }[])[0]?.address;
};

describeOnOvn('NICs of type kube-ovn', (it) => {
  let here: AttachedPod;
  let there: AttachedPod;

  it('the Pod of manifests 10, 11 and 12 gets its address on a NIC of its own', async (environment) => {
    for (const file of ['10-nad-attachnet', '11-subnet-attachnet', '12-pod-attachnet'])
      await applyDocument(environment, documents, file);
    const pod = await waitForPod(environment, 'samplepod');
    expect(pod.nics.get('net1')).to.deep.equal(['172.17.0.11/16']);
    await removePod(environment, pod);
  });

  it('Pods on two nodes exchange pings and 5 MB by TCP in both directions', async (environment) => {
    const { a, b } = environment;
    [here, there] = await Promise.all([
      createPod(environment, 'here', { node: a, networks: 'attachnet' }),
      createPod(environment, 'there', { node: b, networks: 'attachnet' }),
    ]);
    await expectTraffic(environment, here, there);
  });

  it('a Pod reaches its gateway, which is a port of the router', async () => {
    await expectPings(here, '172.17.0.1');
  });

  it('Pods of a Subnet with two address families exchange both', async (environment) => {
    const { a, b } = environment;
    const cidrBlock = '10.66.0.0/24,fd00:66::/64';
    await createNetwork(environment, 'dual', { protocol: 'Dual', cidrBlock, gateway: '10.66.0.1,fd00:66::1' });
    const [one, other] = await Promise.all([
      createPod(environment, 'dual-a', { node: a, networks: 'dual' }),
      createPod(environment, 'dual-b', { node: b, networks: 'dual' }),
    ]);
    await expectTraffic(environment, one, other, 4);
    await expectTraffic(environment, one, other, 6);
    await Promise.all([removePod(environment, one), removePod(environment, other)]);
  });

  it('a NIC has the requested address and MAC', async (environment) => {
    const key = 'attachnet.default.ovn.kubernetes.io';
    const pod = await createPod(environment, 'static', {
      node: environment.b,
      networks: 'attachnet',
      annotations: { [`${key}/ip_address`]: '172.17.0.100', [`${key}/mac_address`]: '00:00:00:53:6B:BB' },
    });
    expect(pod.nics.get('net1')).to.deep.equal(['172.17.0.100/16']);
    expect(await macOf(pod, 'net1')).to.equal('00:00:00:53:6b:bb');
    await expectPings(here, '172.17.0.100');
    await removePod(environment, pod);
  });

  it('two NICs of one network have an address each, and both answer', async (environment) => {
    const pod = await createPod(environment, 'twice', { node: environment.b, networks: 'attachnet,attachnet' });
    const addresses = [addressOf(pod, 'net1'), addressOf(pod, 'net2')];
    expect(new Set(addresses).size).to.equal(2);
    // A reply per interface: by default the kernel answers for both through either
    await inNamespace(pod.network, ['sysctl', '-w', 'net.ipv4.conf.all.arp_ignore=1']);
    await expectPings(here, addresses[0] ?? '');
    await removePod(environment, pod);
  });

  it('a default route leads through the NIC only if the Pod requests it', async (environment) => {
    const pod = await createPod(environment, 'routed', {
      node: environment.a,
      networks: 'attachnet',
      annotations: { 'attachnet.default.ovn.kubernetes.io/default_route': 'true' },
    });
    const routes = (network: AttachedPod['network']) => inNamespace(network, ['ip', 'route', 'show', 'default']);
    expect((await routes(pod.network)).stdout).to.match(/default via 172\.17\.0\.1 dev net1/);
    expect((await routes(here.network)).stdout).to.not.contain('net1');
    await removePod(environment, pod);
  });

  it('port security drops packets with another address or MAC', async (environment) => {
    const secured = await createPod(environment, 'secured', {
      node: environment.a,
      networks: 'attachnet',
      annotations: { 'attachnet.default.ovn.kubernetes.io/port_security': 'true' },
    });
    const [target, spoofed] = [addressOf(there), ['172.17.200.1', '172.17.200.2']] as const;
    await expectPings(secured, target);
    for (const [index, pod] of [here, secured].entries()) {
      const address = spoofed[index] ?? '';
      await inNamespace(pod.network, ['ip', 'address', 'add', `${address}/16`, 'dev', 'net1']);
      // The same packet arrives without port security, so the test can fail
      expect(await isAnswered(pod, ['-I', address, target]), `${pod.name} as ${address}`).to.equal(pod === here);
      await inNamespace(pod.network, ['ip', 'address', 'delete', `${address}/16`, 'dev', 'net1']);
    }
    await inNamespace(secured.network, ['ip', 'link', 'set', 'net1', 'address', '02:00:00:00:00:99']);
    expect(await isAnswered(secured, [target])).to.equal(false);
    await removePod(environment, secured);
  });

  it('Pods of an underlay Subnet exchange frames with the VLAN tag on the wire', async (environment) => {
    const { kubernetes, a, b } = environment;
    await kubernetes.create({
      kind: 'ProviderNetwork',
      metadata: { name: 'wire' },
      spec: { defaultInterface: 'eth3' },
    });
    await kubernetes.create({ kind: 'Vlan', metadata: { name: 'vlan7' }, spec: { id: 7, provider: 'wire' } });
    const vlan = { vlan: 'vlan7', cidrBlock: '10.77.0.0/24', gateway: '10.77.0.1', disableGatewayCheck: true };
    await createNetwork(environment, 'under', vlan);
    const [one, other] = await Promise.all([
      createPod(environment, 'under-a', { node: a, networks: 'under' }),
      createPod(environment, 'under-b', { node: b, networks: 'under' }),
    ]);
    await expectTraffic(environment, one, other);
    await expectPings(one, addressOf(other));
    expect(await a.ovn?.appctl(['dpctl/dump-flows'])).to.match(/push_vlan\(vid=7,/);
    await Promise.all([removePod(environment, one), removePod(environment, other)]);
  });

  it('deleted Pods leave no port, no link and no row', async (environment) => {
    const { a, b, stack } = environment;
    await Promise.all([removePod(environment, here), removePod(environment, there)]);
    await eventually(async () => {
      expect(
        await stack.central.nbctl(['--bare', '--columns=name', 'find', 'logical_switch_port', 'type=""']),
      ).to.equal('');
      for (const { ovn } of [a, b])
        expect(
          await ovn?.vsctl(['--bare', '--columns=name', 'find', 'interface', 'external_ids:vendor=ipledger']),
        ).to.equal('');
    });
  });
});
