/**
 * Tests manifests 10 to 16: NICs whose main plugin is `kube-ovn`. They get addresses, annotations
 * and the reply of the agent. The NIC needs OVN, so ADD fails where the agent runs without
 * --ovs-db.
 */
import { expect } from 'chai';
import { expectConsistency } from '../support/consistency.ts';
import {
  annotatedAddresses,
  applyManifest,
  tryAttachPod,
  waitForDeploymentPods,
  waitForAnnotations,
} from '../support/manifests.ts';
import { callKubeOvnPlugin } from '../support/plugin-call.ts';
import { createSandbox, itOnMacvlan } from '../support/sandbox.ts';
import {
  waitForEvent,
  macvlanConfig,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

const folder = 'manage-multiple-interface';
const provider = 'attachnet.default.ovn';
const key = (suffix: string): string => `${provider}.kubernetes.io/${suffix}`;
const customRoutes = [
  { dst: '192.168.0.0/24', gw: '172.17.0.254' },
  { dst: '0.0.0.0/0', gw: '172.17.0.254' },
];

/**
 * Reads the agent's reply for the attachment, as the plugin prints it for a NIC that another plugin
 * makes.
 */
async function readAgentReply(
  scene: TestEnvironment,
  pod: string,
): Promise<{ ips: { address: string }[]; routes?: object[] }> {
  const config = { ...macvlanConfig(scene, provider), name: 'attachnet' };
  // Creates a sandbox, because a requested default route replaces those in it.
  const { path: netns } = await createSandbox(scene.run, `${pod}-reply`);
  const { code, result, stdout, stderr } = await callKubeOvnPlugin(scene, { pod, network: 'attachnet', config, netns });
  expect(code, `${stdout}${stderr}`).to.equal(0);
  return result as { ips: { address: string }[]; routes?: object[] };
}

async function expectNoDataPath(scene: TestEnvironment, pod: string, ifName?: string): Promise<void> {
  const { answer } = await tryAttachPod(scene, { pod, network: 'attachnet', ...(ifName !== undefined && { ifName }) });
  expect(answer.code).to.not.equal(0);
  expect(`${answer.stdout}${answer.stderr}`).to.contain('no data path for type kube-ovn').and.contain('--ovs-db');
}

describe("the documents' manifests: NICs of type kube-ovn", function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await applyManifest(scene, folder, '10-nad-attachnet');
    await applyManifest(scene, folder, '11-subnet-attachnet');
    await applyManifest(scene, folder, '01-nad-macvlan');
    await applyManifest(scene, folder, '02-subnet-macvlan');
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  itOnMacvlan('12: the Pod gets an address, in its annotations and in the reply of the agent', async () => {
    await applyManifest(scene, folder, '12-pod-attachnet');
    expect(await waitForAnnotations(scene, 'samplepod', provider)).to.include({
      ip_address: '172.17.0.11',
      cidr: '172.17.0.0/16',
      gateway: '172.17.0.1',
      logical_switch: 'attachnet',
    });
    expect((await readAgentReply(scene, 'samplepod')).ips[0]?.address).to.equal('172.17.0.11/16');
    await expectNoDataPath(scene, 'samplepod');
  });

  itOnMacvlan('13: the CNI result has the routes of the Pod', async () => {
    await applyManifest(scene, folder, '13-pod-custom-routes');
    const { ip_address: address } = await waitForAnnotations(scene, 'custom-routes-attach', provider);
    const { ips, routes } = await readAgentReply(scene, 'custom-routes-attach');
    expect(ips[0]?.address).to.equal(`${address}/16`);
    expect(routes).to.deep.equal(customRoutes);
  });

  itOnMacvlan('14: the CNI result has the routes for each Pod of a Deployment', async () => {
    await applyManifest(scene, folder, '14-deployment-custom-routes');
    const { served } = await waitForDeploymentPods(scene, 'nginx', { provider, served: 2, waiting: 0 });
    expect(new Set(annotatedAddresses(served, provider)).size).to.equal(2);
    for (const { metadata } of served)
      expect((await readAgentReply(scene, metadata.name)).routes).to.deep.equal(customRoutes);
  });

  it('a Subnet with the same CIDR on another network has an address space of its own', async () => {
    await makePod(scene, 'both', 'macvlan,attachnet');
    const ofMacvlan = await waitForAnnotations(scene, 'both', 'macvlan.default');
    const ofAttachnet = await waitForAnnotations(scene, 'both', provider);
    expect(ofMacvlan).to.include({ ip_address: '172.17.0.11' });
    expect(ofAttachnet['ip_address']).to.match(/^172\.17\.0\.1[2-9]$/);
  });
});

describe("the documents' manifests: NICs of type kube-ovn on a Subnet that the Pod names", function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  const named = { [key('logical_switch')]: 'attachnet' };
  before(async () => {
    scene = await openTestEnvironment();
    await applyManifest(scene, folder, '10-nad-attachnet');
    await applyManifest(scene, folder, '15-subnet-attachnet-provider-ovn');
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  itOnMacvlan('16: the Pod gets an address of that Subnet', async () => {
    await applyManifest(scene, folder, '16-pod-attachnet-logical-switch');
    expect(await waitForAnnotations(scene, 'samplepod', provider)).to.include({
      ip_address: '172.17.0.11',
      logical_switch: 'attachnet',
    });
    expect((await readAgentReply(scene, 'samplepod')).ips[0]?.address).to.equal('172.17.0.11/16');
    await expectNoDataPath(scene, 'samplepod');
  });

  it('a Pod that names no Subnet gets no address, but an Event with the remedy', async () => {
    await makePod(scene, 'unnamed', 'attachnet');
    await waitForEvent(
      scene,
      'unnamed',
      'PodNetworkUpdateFailed',
      /provider attachnet\.default\.ovn is not bound to any subnet: create a Subnet with spec\.provider "attachnet\.default\.ovn"/,
    );
  });

  it('a Pod gets the requested address and MAC', async () => {
    const requested = { [key('ip_address')]: '172.17.0.100', [key('mac_address')]: '00:00:00:53:6B:BB' };
    await makePod(scene, 'fixed', 'attachnet', { ...named, ...requested });
    expect(await waitForAnnotations(scene, 'fixed', provider)).to.include({
      ip_address: '172.17.0.100',
      mac_address: '00:00:00:53:6B:BB',
    });
  });

  it('a Pod gets an address of its list', async () => {
    await makePod(scene, 'listed', 'attachnet', { ...named, [key('ip_pool')]: '172.17.0.200,172.17.0.201' });
    expect(await waitForAnnotations(scene, 'listed', provider)).to.include({ ip_address: '172.17.0.200' });
  });

  itOnMacvlan('the CNI result has a requested default route, or the routes of the Pod', async () => {
    const routes = '[{"dst": "192.168.0.101/24", "gw": "172.17.0.254"}, {"gw": "172.17.0.254"}]';
    await makePod(scene, 'routes', 'attachnet', { ...named, [key('routes')]: routes });
    await waitForAnnotations(scene, 'routes', provider);
    expect((await readAgentReply(scene, 'routes')).routes).to.deep.equal(customRoutes);
    await makePod(scene, 'default', 'attachnet', { ...named, [key('default_route')]: 'true' });
    await waitForAnnotations(scene, 'default', provider);
    expect((await readAgentReply(scene, 'default')).routes).to.deep.equal([{ dst: '0.0.0.0/0', gw: '172.17.0.1' }]);
  });

  itOnMacvlan('a main NIC gets its address and annotations, but ADD fails without a data path', async () => {
    await makePod(scene, 'main', '', { 'v1.multus-cni.io/default-network': 'default/attachnet', ...named });
    expect((await waitForAnnotations(scene, 'main', provider))['ip_address']).to.match(/^172\.17\.0\.\d+$/);
    await expectNoDataPath(scene, 'main', 'eth0');
  });
});
