/**
 * The ledger decides which NIC has an address: released addresses, other holders, ports that are
 * left over on a node.
 */
import { expect } from 'chai';
import { eventually } from '../e2e/support/eventually.ts';
import { inNamespace } from '../harness/network/network-namespaces.ts';
import { listSandboxes } from '../node/sandboxes.ts';
import {
  addressOf,
  applyDocument,
  type AttachedPod,
  createPod,
  expectPings,
  isAnswered,
  removePod,
} from './ovn-environment.ts';
import { describeOnOvn } from './ovn-suite.ts';

const provider = 'attachnet.default.ovn';
const portOf = ({ name }: AttachedPod): string => `${name}.default.${provider}`;

/** Counts the packets that a NIC has received. */
async function receivedBy({ network }: AttachedPod): Promise<number> {
  const { stdout } = await inNamespace(network, ['ip', '-json', '-statistics', 'link', 'show', 'dev', 'net1']);
  return (JSON.parse(stdout) as { stats64: { rx: { packets: number } } }[])[0]?.stats64.rx.packets ?? 0;
}

describeOnOvn('the holder of an address on OVN', (it) => {
  let witness: AttachedPod;

  it('a leftover port of the same name on another node receives no packet', async (environment) => {
    const { a, b } = environment;
    await applyDocument(environment, 'manage-multiple-interface', '10-nad-attachnet');
    await applyDocument(environment, 'manage-multiple-interface', '11-subnet-attachnet');
    await environment.kubernetes.patch('Subnet', 'attachnet', { spec: { cooldownSeconds: 0 } });
    witness = await createPod(environment, 'witness', { node: a, networks: 'attachnet' });
    const pod = await createPod(environment, 'moved', { node: b, networks: 'attachnet' });
    const stale = ['add-port', 'br-int', 'stale', '--', 'set', 'interface', 'stale', 'type=internal'];
    await a.ovn?.vsctl([...stale, `external_ids:iface-id=${portOf(pod)}`]);
    await environment.stack.central.nbctl(['--wait=hv', 'sync']);
    await expectPings(witness, addressOf(pod), 100);
    await a.ovn?.vsctl(['del-port', 'br-int', 'stale']);
    await removePod(environment, pod);
  });

  it('the release of an address stops its traffic while the container still runs', async (environment) => {
    const { b, kubernetes } = environment;
    const pod = await createPod(environment, 'released', { node: b, networks: 'attachnet' });
    const address = addressOf(pod);
    await expectPings(witness, address);
    b.kubelet.freeze();
    await kubernetes.remove('Pod', pod.name, 0);
    await eventually(async () => expect(await isAnswered(witness, [address])).to.equal(false));
    expect(listSandboxes(b).map(({ uid }) => uid)).to.include(pod.uid);

    // Kubernetes has lost the node, so its containers no longer count, and another Pod may request
    // the address
    await kubernetes.remove('Node', b.name);
    const annotations = { [`${provider}.kubernetes.io/ip_address`]: address };
    const next = await createPod(environment, 'next', { node: environment.a, networks: 'attachnet', annotations });
    await environment.stack.central.nbctl(['--wait=hv', 'sync']);
    const before = await receivedBy(pod);
    const pings = 20;
    await expectPings(witness, address, pings);
    // An ARP request is a broadcast, which the kernel may still deliver by an old flow
    expect((await receivedBy(pod)) - before, 'packets to the old container').to.be.below(pings / 2);
    b.kubelet.resume();
    await removePod(environment, next);
    await eventually(() => expect(listSandboxes(b)).to.deep.equal([]), 180_000);
  });
});
