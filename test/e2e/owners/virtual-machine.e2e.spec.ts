/** Tests virtual machines. Creates the objects that KubeVirt's controllers would create. */
import { expect } from 'chai';
import { virtualMachineCrds } from '../../harness/kubernetes/kubevirt-crds.ts';
import { readLastEvent, readAddressRecord } from '../support/attachments.ts';
import { eventually } from '../support/eventually.ts';
import type { KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import { resultAddresses, callKubeOvnPlugin } from '../support/plugin-call.ts';
import {
  waitForAddress,
  macvlanConfig,
  makeNetworkAndSubnet,
  networksAnnotation,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

describe('a virtual machine', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment({ nodes: ['node-1', 'node-2'] });
    for (const definition of virtualMachineCrds) await scene.kubernetes.create(definition);
    await makeNetworkAndSubnet(scene, 'lan', '10.14.0.0/24');
    await eventually(() => scene.kubernetes.create({ kind: 'VirtualMachine', metadata: { name: 'vm1' }, spec: {} }));
  });
  after(() => scene?.run.end());

  const start = (): Promise<KubeObject> =>
    eventually(() => scene.kubernetes.create({ kind: 'VirtualMachineInstance', metadata: { name: 'vm1' }, spec: {} }));

  /** Creates a launcher Pod of the virtual machine. */
  function launch(suffix: string, nodeName: string, { metadata }: KubeObject): Promise<KubeObject> {
    const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm1', uid: metadata.uid };
    return scene.kubernetes.create({
      kind: 'Pod',
      metadata: {
        name: `virt-launcher-vm1-${suffix}`,
        annotations: { [networksAnnotation]: 'lan' },
        ownerReferences: [{ ...owner, controller: true }],
      },
      spec: { nodeName, restartPolicy: 'Never', containers: [{ name: 'compute', image: 'compute' }] },
    });
  }

  const launcher = (suffix: string): string => `virt-launcher-vm1-${suffix}`;

  /** Calls ADD of the machine's NIC on a node, as Multus does there. */
  async function add(suffix: string, node: 0 | 1): Promise<readonly string[] | string> {
    const config = macvlanConfig(scene, 'lan.default');
    const ipam = { ...config.ipam, server_socket: scene.stack.agents[node]?.socket };
    return resultAddresses(
      await callKubeOvnPlugin(scene, {
        pod: launcher(suffix),
        network: 'lan',
        config: { ...config, name: 'lan', ipam },
      }),
    );
  }

  const holderOf = async (address: string) => (await readAddressRecord(scene, 'lan', address))?.allocation;

  it('a virtual machine has the same address on both nodes during a migration, and afterwards', async () => {
    const instance = await start();
    await launch('source', 'node-1', instance);
    const address = await waitForAddress(scene, launcher('source'), 'lan');
    expect(await add('source', 0)).to.deep.equal([`${address}/24`]);

    await launch('target', 'node-2', instance);
    expect(await waitForAddress(scene, launcher('target'), 'lan')).to.equal(address);
    expect(await add('target', 1)).to.deep.equal([`${address}/24`]);
    const held = await holderOf(address);
    expect(held?.attachment).to.include({ pod: 'vm1', namespace: 'default' });
    expect(held?.bindings.map(({ node }) => node)).to.deep.equal(['node-1', 'node-2']);
    await eventually(async () => {
      const { spec } = await scene.kubernetes.get('IP', 'vm1.default.lan.default');
      expect(spec).to.include({ ipAddress: address, podName: 'vm1', podType: 'VirtualMachine', nodeName: 'node-2' });
    });

    await scene.kubernetes.remove('Pod', launcher('source'));
    expect(await waitForAddress(scene, launcher('target'), 'lan')).to.equal(address);
    expect((await holderOf(address))?.podUid).to.equal(instance.metadata.uid);
  });

  it('a virtual machine keeps its address while it is stopped, and has it again after the next start', async () => {
    const address = await waitForAddress(scene, launcher('target'), 'lan');
    await scene.kubernetes.remove('Pod', launcher('target'));
    await scene.kubernetes.remove('VirtualMachineInstance', 'vm1');
    const instance = await start();
    await launch('again', 'node-1', instance);
    expect(await waitForAddress(scene, launcher('again'), 'lan')).to.equal(address);
    expect((await holderOf(address))?.podUid).to.equal(instance.metadata.uid);
  });

  it('a virtual machine releases its address when it is deleted', async () => {
    const address = await waitForAddress(scene, launcher('again'), 'lan');
    for (const kind of ['VirtualMachine', 'VirtualMachineInstance'] as const)
      await scene.kubernetes.remove(kind, 'vm1');
    await scene.kubernetes.remove('Pod', launcher('again'));
    await eventually(async () => {
      const released = (await readLastEvent(scene, 'lan', address))?.addressReleased;
      expect(released?.cause).to.equal('RELEASE_CAUSE_OWNER_DELETED');
      expect(released?.evidence).to.contain('there is no VirtualMachine vm1');
    });
  });
});
