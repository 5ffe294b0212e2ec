/** Manifests 01 to 07 and 17: macvlan NICs on a Subnet of their provider. */
import { expect } from 'chai';
import { ip } from '../harness/network.ts';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import { addressesOf, apply, attached, type Folder, membersOf, routesIn, shownOf } from './manifests.ts';
import { itOnMacvlan, linkOf } from './sandbox.ts';
import { eventOf, makePod, openScene, type Scene } from './scene.ts';

const provider = 'macvlan.default';
const pool = ['172.17.0.200', '172.17.0.201', '172.17.0.202'];
const gateway = '172.17.0.1';

for (const folder of ['manage-multiple-interface', 'ipam-1.1'] as const)
  describe(`the documents' manifests: ${folder}, macvlan`, function () {
    this.timeout(120_000);
    let scene: Scene;
    before(async () => {
      scene = await openScene();
      await apply(scene, folder, '01-nad-macvlan');
      await apply(scene, folder, '02-subnet-macvlan');
    });
    after(() => scene?.run.end());
    afterEach(() => expectAgreement(scene.stack));

    it('02: the Subnet is ready, with all of its /16 to give but what is excluded', async () => {
      await eventually(async () => {
        const { status } = await scene.kubernetes.get('Subnet', 'macvlan');
        expect(status).to.include({ v4availableIPs: 65_524, v4usingIPs: 0 });
        const conditions = status?.['conditions'] as { type: string; status: string }[] | undefined;
        expect(conditions?.find(({ type }) => type === 'Ready')?.status).to.equal('True');
      });
    });

    it('03: the lowest free address outside excludeIps', async () => {
      await apply(scene, folder, '03-pod-random');
      expect(await shownOf(scene, 'samplepod', provider)).to.deep.equal({
        ip_address: '172.17.0.11',
        cidr: '172.17.0.0/16',
        gateway,
        allocated: 'true',
      });
    });

    itOnMacvlan('03: no default route through net1', async () => {
      const sandbox = await attached(scene, { pod: 'samplepod', network: 'macvlan' });
      expect((await linkOf(sandbox)).addresses).to.deep.equal(['172.17.0.11/16']);
      expect(await routesIn(sandbox)).to.deep.equal([]);
    });

    it('04: the address and the MAC; what is asked of the primary network is left as it is', async () => {
      await apply(scene, folder, '04-pod-static');
      expect(await shownOf(scene, 'static-ip', provider)).to.include({
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

    itOnMacvlan('04: both are on net1', async () => {
      const sandbox = await attached(scene, { pod: 'static-ip', network: 'macvlan' });
      expect(await linkOf(sandbox)).to.deep.equal({ mac: '00:00:00:53:6b:bb', addresses: ['172.17.0.100/16'] });
    });

    it('05: two Pods hold two of the three addresses; a third the last; a fourth waits and is told why', async () => {
      await apply(scene, folder, '05-deployment-ip-pool');
      const two = await membersOf(scene, 'static-workload', { provider, served: 2, waiting: 0 });
      expect(addressesOf(two.served, provider)).to.deep.equal(pool.slice(0, 2));
      await scene.kubernetes.patch('Deployment', 'static-workload', { spec: { replicas: 4 } });
      const { served, waiting } = await membersOf(scene, 'static-workload', { provider, served: 3, waiting: 1 });
      expect(addressesOf(served, provider)).to.deep.equal(pool);
      await eventOf(scene, waiting[0]?.metadata.name ?? '', 'AcquireAddressFailed', /AddressConflict: none of the/);
    });

    it('05: a Pod made anew takes from the list again', async () => {
      await scene.kubernetes.patch('Deployment', 'static-workload', { spec: { replicas: 3 } });
      const { served } = await membersOf(scene, 'static-workload', { provider, served: 3, waiting: 0 });
      await scene.kubernetes.remove('Pod', served[0]?.metadata.name ?? '');
      await eventually(async () => {
        const now = await membersOf(scene, 'static-workload', { provider, served: 3, waiting: 0 });
        expect(now.served.map(({ metadata }) => metadata.uid)).to.not.include(served[0]?.metadata.uid);
        expect(addressesOf(now.served, provider)).to.deep.equal(pool);
      });
    });

    if (folder === 'manage-multiple-interface') onlyThere(() => scene, folder);
  });

function onlyThere(sceneOf: () => Scene, folder: Folder): void {
  itOnMacvlan('06: an address, and the default route that Multus sets through its gateway', async () => {
    const scene = sceneOf();
    await apply(scene, folder, '06-pod-default-route');
    const { ip_address: address } = await shownOf(scene, 'samplepod-route', provider);
    const sandbox = await attached(scene, { pod: 'samplepod-route', network: 'macvlan' });
    expect((await linkOf(sandbox)).addresses).to.deep.equal([`${address}/16`]);
    // What Multus does with `default-route` when the NIC is attached.
    await ip(sandbox, ['route', 'add', 'default', 'via', gateway, 'dev', 'net1']);
    expect(await routesIn(sandbox)).to.deep.equal([`default via ${gateway} dev net1`]);
  });

  itOnMacvlan('07: eth0 is the macvlan, with the default route through the gateway of the Subnet', async () => {
    const scene = sceneOf();
    await apply(scene, folder, '07-pod-main-nic');
    const { ip_address: address } = await shownOf(scene, 'samplepod-macvlan', provider);
    const sandbox = await attached(scene, { pod: 'samplepod-macvlan', network: 'macvlan', ifName: 'eth0' });
    expect((await linkOf(sandbox, 'eth0')).addresses).to.deep.equal([`${address}/16`]);
    expect(await routesIn(sandbox)).to.deep.equal([`default via ${gateway} dev eth0`]);
  });

  it('17: a Pod that names a network without a configuration is told so, and its other NIC works', async () => {
    const scene = sceneOf();
    await apply(scene, folder, '17-nad-empty-spec');
    await makePod(scene, 'names-empty', 'macvlan-conf-2,macvlan');
    await shownOf(scene, 'names-empty', provider);
    const says =
      /default\/macvlan-conf-2 is not served: its spec\.config is empty, and Multus refuses the Pod .*\. Write a/;
    await eventOf(scene, 'names-empty', 'PodNetworkNotServed', says);
    const { annotations } = (await scene.kubernetes.get('Pod', 'names-empty')).metadata;
    expect(Object.keys(annotations ?? {}).filter((key) => key.includes('macvlan-conf-2'))).to.deep.equal([]);
  });
}
