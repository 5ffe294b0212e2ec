/** Tests manifests 01 to 07 and 17: macvlan NICs on a Subnet of their provider. */
import { expect } from 'chai';
import { ip } from '../../harness/network/network-namespaces.ts';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import {
  annotatedAddresses,
  applyManifest,
  attachPod,
  type ManifestFolder,
  waitForDeploymentPods,
  readRoutes,
  waitForAnnotations,
} from '../support/manifests.ts';
import { itOnMacvlan, readLink } from '../support/sandbox.ts';
import { waitForEvent, makePod, openTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';

const provider = 'macvlan.default';
const pool = ['172.17.0.200', '172.17.0.201', '172.17.0.202'];
const gateway = '172.17.0.1';

for (const folder of ['manage-multiple-interface', 'ipam-1.1'] as const)
  describe(`the documents' manifests: ${folder}, macvlan`, function () {
    this.timeout(180_000);
    let scene: TestEnvironment;
    before(async () => {
      scene = await openTestEnvironment();
      await applyManifest(scene, folder, '01-nad-macvlan');
      await applyManifest(scene, folder, '02-subnet-macvlan');
    });
    after(() => scene?.run.end());
    afterEach(() => expectConsistency(scene.stack));

    it('02: the Subnet is ready, with all addresses of its /16 available except the excluded addresses', async () => {
      await eventually(async () => {
        const { status } = await scene.kubernetes.get('Subnet', 'macvlan');
        expect(status).to.include({ v4availableIPs: 65_524, v4usingIPs: 0 });
        const conditions = status?.['conditions'] as { type: string; status: string }[] | undefined;
        expect(conditions?.find(({ type }) => type === 'Ready')?.status).to.equal('True');
      });
    });

    it('03: the Pod gets the lowest free address that is not in excludeIps', async () => {
      await applyManifest(scene, folder, '03-pod-random');
      expect(await waitForAnnotations(scene, 'samplepod', provider)).to.deep.equal({
        ip_address: '172.17.0.11',
        cidr: '172.17.0.0/16',
        gateway,
        allocated: 'true',
        routed: 'true',
      });
    });

    itOnMacvlan('03: the Pod has no default route through net1', async () => {
      const sandbox = await attachPod(scene, { pod: 'samplepod', network: 'macvlan' });
      expect((await readLink(sandbox)).addresses).to.deep.equal(['172.17.0.11/16']);
      expect(await readRoutes(sandbox)).to.deep.equal([]);
    });

    it('04: the Pod gets the requested address and MAC, and keeps its annotations for the primary network', async () => {
      await applyManifest(scene, folder, '04-pod-static');
      expect(await waitForAnnotations(scene, 'static-ip', provider)).to.include({
        ip_address: '172.17.0.100',
        mac_address: '00:00:00:53:6B:BB',
      });
      const { annotations } = (await scene.kubernetes.get('Pod', 'static-ip')).metadata;
      expect(annotations).to.include({
        'ovn.kubernetes.io/ip_address': '10.16.0.15',
        'ovn.kubernetes.io/mac_address': '00:00:00:53:6B:B6',
      });
      expect(annotations).to.not.have.property('ovn.kubernetes.io/allocated');
    });

    itOnMacvlan('04: address and MAC are on net1', async () => {
      const sandbox = await attachPod(scene, { pod: 'static-ip', network: 'macvlan' });
      expect(await readLink(sandbox)).to.deep.equal({ mac: '00:00:00:53:6b:bb', addresses: ['172.17.0.100/16'] });
    });

    it('05: three Pods hold the three addresses; a fourth waits, and an Event gives the reason', async () => {
      await applyManifest(scene, folder, '05-deployment-ip-pool');
      const two = await waitForDeploymentPods(scene, 'static-workload', { provider, served: 2, waiting: 0 });
      expect(annotatedAddresses(two.served, provider)).to.deep.equal(pool.slice(0, 2));
      await scene.kubernetes.patch('Deployment', 'static-workload', { spec: { replicas: 4 } });
      const { served, waiting } = await waitForDeploymentPods(scene, 'static-workload', {
        provider,
        served: 3,
        waiting: 1,
      });
      expect(annotatedAddresses(served, provider)).to.deep.equal(pool);
      await waitForEvent(
        scene,
        waiting[0]?.metadata.name ?? '',
        'AcquireAddressFailed',
        /AddressConflict: none of the/,
      );
    });

    it('05: a Pod that is created again gets an address of the list', async () => {
      await scene.kubernetes.patch('Deployment', 'static-workload', { spec: { replicas: 3 } });
      const { served } = await waitForDeploymentPods(scene, 'static-workload', { provider, served: 3, waiting: 0 });
      await scene.kubernetes.remove('Pod', served[0]?.metadata.name ?? '');
      await eventually(async () => {
        const now = await waitForDeploymentPods(scene, 'static-workload', { provider, served: 3, waiting: 0 });
        expect(now.served.map(({ metadata }) => metadata.uid)).to.not.include(served[0]?.metadata.uid);
        expect(annotatedAddresses(now.served, provider)).to.deep.equal(pool);
      });
    });

    if (folder === 'manage-multiple-interface') describeMultipleInterfaces(() => scene, folder);
  });

function describeMultipleInterfaces(sceneOf: () => TestEnvironment, folder: ManifestFolder): void {
  itOnMacvlan('06: the Pod gets an address, and the default route that Multus sets through its gateway', async () => {
    const scene = sceneOf();
    await applyManifest(scene, folder, '06-pod-default-route');
    const { ip_address: address } = await waitForAnnotations(scene, 'samplepod-route', provider);
    const sandbox = await attachPod(scene, { pod: 'samplepod-route', network: 'macvlan' });
    expect((await readLink(sandbox)).addresses).to.deep.equal([`${address}/16`]);
    // Sets the route as Multus does for `default-route` when it attaches the NIC.
    await ip(sandbox, ['route', 'add', 'default', 'via', gateway, 'dev', 'net1']);
    expect(await readRoutes(sandbox)).to.deep.equal([`default via ${gateway} dev net1`]);
  });

  itOnMacvlan('07: eth0 is a macvlan link, with the default route through the gateway of the Subnet', async () => {
    const scene = sceneOf();
    await applyManifest(scene, folder, '07-pod-main-nic');
    const { ip_address: address } = await waitForAnnotations(scene, 'samplepod-macvlan', provider);
    const sandbox = await attachPod(scene, { pod: 'samplepod-macvlan', network: 'macvlan', ifName: 'eth0' });
    expect((await readLink(sandbox, 'eth0')).addresses).to.deep.equal([`${address}/16`]);
    expect(await readRoutes(sandbox)).to.deep.equal([`default via ${gateway} dev eth0`]);
  });

  it('17: a Pod that names a network without a configuration gets an Event, and an address for its other NIC', async () => {
    const scene = sceneOf();
    await applyManifest(scene, folder, '17-nad-empty-spec');
    await makePod(scene, 'names-empty', 'macvlan-conf-2,macvlan');
    await waitForAnnotations(scene, 'names-empty', provider);
    const message =
      /default\/macvlan-conf-2 is not served: its spec\.config is empty, and Multus refuses the Pod .*\. Write a/;
    await waitForEvent(scene, 'names-empty', 'PodNetworkNotServed', message);
    const { annotations } = (await scene.kubernetes.get('Pod', 'names-empty')).metadata;
    expect(Object.keys(annotations ?? {}).filter((key) => key.includes('macvlan-conf-2'))).to.deep.equal([]);
  });
}
