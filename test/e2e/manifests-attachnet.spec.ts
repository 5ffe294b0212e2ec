/**
 * Manifests 10 to 16: NICs whose own plugin is `kube-ovn`. They get addresses, annotations and the agent's answer; the NIC itself
 * needs Kube-OVN's data path, and without it the ADD says so.
 */
import { expect } from 'chai';
import { expectAgreement } from './agreement.ts';
import { addressesOf, apply, attach, membersOf, shownOf } from './manifests.ts';
import { plugin } from './plugin.ts';
import { createSandbox, itOnMacvlan } from './sandbox.ts';
import { eventOf, macvlanConfig, makePod, openScene, type Scene } from './scene.ts';

const folder = 'manage-multiple-interface';
const provider = 'attachnet.default.ovn';
const key = (suffix: string): string => `${provider}.kubernetes.io/${suffix}`;
const customRoutes = [
  { dst: '192.168.0.0/24', gw: '172.17.0.254' },
  { dst: '0.0.0.0/0', gw: '172.17.0.254' },
];

/** What the agent answers for the attachment, as the plugin prints it for a NIC that somebody else makes. */
async function answered(scene: Scene, pod: string): Promise<{ ips: { address: string }[]; routes?: object[] }> {
  const config = { ...macvlanConfig(scene, provider), name: 'attachnet' };
  // Where a default route is asked for, the agent replaces those that are in the sandbox.
  const { path: netns } = await createSandbox(scene.run, `${pod}-answered`);
  const { code, result, stdout, stderr } = await plugin(scene, { pod, network: 'attachnet', config, netns });
  expect(code, `${stdout}${stderr}`).to.equal(0);
  return result as { ips: { address: string }[]; routes?: object[] };
}

async function expectNoDataPath(scene: Scene, pod: string, ifName?: string): Promise<void> {
  const { answer } = await attach(scene, { pod, network: 'attachnet', ...(ifName !== undefined && { ifName }) });
  expect(answer.code).to.not.equal(0);
  expect(`${answer.stdout}${answer.stderr}`).to.contain('data path not available');
}

describe("the documents' manifests: NICs of type kube-ovn", function () {
  this.timeout(120_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    await apply(scene, folder, '10-nad-attachnet');
    await apply(scene, folder, '11-subnet-attachnet');
    await apply(scene, folder, '01-nad-macvlan');
    await apply(scene, folder, '02-subnet-macvlan');
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  itOnMacvlan('12: an address, shown by annotations and answered by the agent', async () => {
    await apply(scene, folder, '12-pod-attachnet');
    expect(await shownOf(scene, 'samplepod', provider)).to.include({
      ip_address: '172.17.0.11',
      cidr: '172.17.0.0/16',
      gateway: '172.17.0.1',
      logical_switch: 'attachnet',
    });
    expect((await answered(scene, 'samplepod')).ips[0]?.address).to.equal('172.17.0.11/16');
    await expectNoDataPath(scene, 'samplepod');
  });

  itOnMacvlan('13: routes of its own stand in the CNI result', async () => {
    await apply(scene, folder, '13-pod-custom-routes');
    const { ip_address: address } = await shownOf(scene, 'custom-routes-attach', provider);
    const { ips, routes } = await answered(scene, 'custom-routes-attach');
    expect(ips[0]?.address).to.equal(`${address}/16`);
    expect(routes).to.deep.equal(customRoutes);
  });

  itOnMacvlan('14: the same for each Pod of a Deployment', async () => {
    await apply(scene, folder, '14-deployment-custom-routes');
    const { served } = await membersOf(scene, 'nginx', { provider, served: 2, waiting: 0 });
    expect(new Set(addressesOf(served, provider)).size).to.equal(2);
    for (const { metadata } of served)
      expect((await answered(scene, metadata.name)).routes).to.deep.equal(customRoutes);
  });

  it('the same CIDR on another network is an address space of its own', async () => {
    await makePod(scene, 'both', 'macvlan,attachnet');
    const ofMacvlan = await shownOf(scene, 'both', 'macvlan.default');
    const ofAttachnet = await shownOf(scene, 'both', provider);
    expect(ofMacvlan).to.include({ ip_address: '172.17.0.11' });
    expect(ofAttachnet['ip_address']).to.match(/^172\.17\.0\.1[2-9]$/);
  });
});

describe("the documents' manifests: NICs of type kube-ovn on a Subnet that the Pod names", function () {
  this.timeout(120_000);
  let scene: Scene;
  const named = { [key('logical_switch')]: 'attachnet' };
  before(async () => {
    scene = await openScene();
    await apply(scene, folder, '10-nad-attachnet');
    await apply(scene, folder, '15-subnet-attachnet-provider-ovn');
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  itOnMacvlan('16: an address from it', async () => {
    await apply(scene, folder, '16-pod-attachnet-logical-switch');
    expect(await shownOf(scene, 'samplepod', provider)).to.include({
      ip_address: '172.17.0.11',
      logical_switch: 'attachnet',
    });
    expect((await answered(scene, 'samplepod')).ips[0]?.address).to.equal('172.17.0.11/16');
    await expectNoDataPath(scene, 'samplepod');
  });

  it('without naming it there is none, and the Event says what would unblock it', async () => {
    await makePod(scene, 'unnamed', 'attachnet');
    await eventOf(
      scene,
      'unnamed',
      'PodNetworkUpdateFailed',
      /provider attachnet\.default\.ovn is not bound to any subnet: create a Subnet with spec\.provider "attachnet\.default\.ovn"/,
    );
  });

  it('a fixed address and a MAC', async () => {
    const asked = { [key('ip_address')]: '172.17.0.100', [key('mac_address')]: '00:00:00:53:6B:BB' };
    await makePod(scene, 'fixed', 'attachnet', { ...named, ...asked });
    expect(await shownOf(scene, 'fixed', provider)).to.include({
      ip_address: '172.17.0.100',
      mac_address: '00:00:00:53:6B:BB',
    });
  });

  it('a list of addresses', async () => {
    await makePod(scene, 'listed', 'attachnet', { ...named, [key('ip_pool')]: '172.17.0.200,172.17.0.201' });
    expect(await shownOf(scene, 'listed', provider)).to.include({ ip_address: '172.17.0.200' });
  });

  itOnMacvlan('a default route, and routes of its own', async () => {
    const routes = '[{"dst": "192.168.0.101/24", "gw": "172.17.0.254"}, {"gw": "172.17.0.254"}]';
    await makePod(scene, 'routes', 'attachnet', { ...named, [key('routes')]: routes });
    await shownOf(scene, 'routes', provider);
    expect((await answered(scene, 'routes')).routes).to.deep.equal(customRoutes);
    await makePod(scene, 'default', 'attachnet', { ...named, [key('default_route')]: 'true' });
    await shownOf(scene, 'default', provider);
    expect((await answered(scene, 'default')).routes).to.deep.equal([{ dst: '0.0.0.0/0', gw: '172.17.0.1' }]);
  });

  itOnMacvlan('a main NIC: allocated and annotated; the ADD waits for a data path', async () => {
    await makePod(scene, 'main', '', { 'v1.multus-cni.io/default-network': 'default/attachnet', ...named });
    expect((await shownOf(scene, 'main', provider))['ip_address']).to.match(/^172\.17\.0\.\d+$/);
    await expectNoDataPath(scene, 'main', 'eth0');
  });
});
