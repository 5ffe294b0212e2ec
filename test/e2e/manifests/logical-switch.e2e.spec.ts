/** Tests manifests 08 and 09: a macvlan NIC on a Subnet of provider `ovn` that the Pod names. */
import { expect } from 'chai';
import { waitingAnnotation } from '../../../lib/kubernetes/kubernetes-metadata.ts';
import { ip } from '../../harness/network/network-namespaces.ts';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import { applyManifest, attachPod, readRoutes, waitForAnnotations } from '../support/manifests.ts';
import { callKubeOvnPlugin } from '../support/plugin-call.ts';
import { itOnMacvlan, readLink } from '../support/sandbox.ts';
import {
  waitForEvent,
  makeNetwork,
  makePod,
  makeSubnet,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

const folder = 'manage-multiple-interface';
const provider = 'macvlan.default';
const key = (suffix: string): string => `${provider}.kubernetes.io/${suffix}`;
const named = { [key('logical_switch')]: 'macvlan' };

describe("the documents' manifests: a Subnet that the Pod names", function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await applyManifest(scene, folder, '01-nad-macvlan');
    await applyManifest(scene, folder, '08-subnet-provider-ovn');
    await makeSubnet(scene, 'by-provider', { cidrBlock: '10.21.0.0/24', provider });
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  it('09: the Pod gets an address of the Subnet that it names, and none of its provider’s Subnet or the primary network', async () => {
    await applyManifest(scene, folder, '09-pod-logical-switch');
    expect(await waitForAnnotations(scene, 'samplepod', provider)).to.deep.equal({
      ip_address: '172.17.0.11',
      cidr: '172.17.0.0/16',
      gateway: '172.17.0.1',
      allocated: 'true',
      routed: 'true',
      logical_switch: 'macvlan',
    });
    await makePod(scene, 'unnamed', 'macvlan');
    expect(await waitForAnnotations(scene, 'unnamed', provider)).to.include({ ip_address: '10.21.0.2' });
    const { annotations } = (await scene.kubernetes.get('Pod', 'samplepod')).metadata;
    expect(annotations).to.not.have.property('ovn.kubernetes.io/allocated');
  });

  itOnMacvlan('09: the NIC of the Pod has the address of the named Subnet', async () => {
    const sandbox = await attachPod(scene, { pod: 'samplepod', network: 'macvlan' });
    expect((await readLink(sandbox)).addresses).to.deep.equal(['172.17.0.11/16']);
    expect(await readRoutes(sandbox)).to.deep.equal([]);
  });

  it('a Pod gets the requested address and MAC', async () => {
    const requested = { [key('ip_address')]: '172.17.0.100', [key('mac_address')]: '00:00:00:53:6B:BB' };
    await makePod(scene, 'fixed', 'macvlan', { ...named, ...requested });
    expect(await waitForAnnotations(scene, 'fixed', provider)).to.include({
      ip_address: '172.17.0.100',
      mac_address: '00:00:00:53:6B:BB',
    });
  });

  it('Pods get the addresses of their list', async () => {
    const list = { ...named, [key('ip_pool')]: '172.17.0.200,172.17.0.201' };
    const got: (string | undefined)[] = [];
    for (const pod of ['listed-1', 'listed-2']) {
      await makePod(scene, pod, 'macvlan', list);
      got.push((await waitForAnnotations(scene, pod, provider))['ip_address']);
    }
    expect(got).to.deep.equal(['172.17.0.200', '172.17.0.201']);
  });

  itOnMacvlan('a Pod has the default route that Multus sets through its gateway', async () => {
    const networks = '[{"name": "macvlan", "namespace": "default", "default-route": ["172.17.0.1"]}]';
    await makePod(scene, 'routed', networks, named);
    const { ip_address: address } = await waitForAnnotations(scene, 'routed', provider);
    const sandbox = await attachPod(scene, { pod: 'routed', network: 'macvlan' });
    expect((await readLink(sandbox)).addresses).to.deep.equal([`${address}/16`]);
    await ip(sandbox, ['route', 'add', 'default', 'via', '172.17.0.1', 'dev', 'net1']);
    expect(await readRoutes(sandbox)).to.deep.equal(['default via 172.17.0.1 dev net1']);
  });

  it('a main NIC on a named Subnet is refused, and an Event names the remedy', async () => {
    await makePod(scene, 'main', '', { 'v1.multus-cni.io/default-network': 'default/macvlan', ...named });
    await waitForEvent(
      scene,
      'main',
      'PodNetworkUpdateFailed',
      /logical_switch: a main NIC of another plugin cannot have its address from Subnet macvlan of provider ovn: name a Subnet with spec\.provider "macvlan\.default"/,
    );
  });

  it('a main NIC on a named Subnet is refused, and the CNI error has the same cause as the Event', async () => {
    await makeNetwork(scene, 'alone');
    const annotations = { 'alone.default.kubernetes.io/logical_switch': 'macvlan' };
    await makePod(scene, 'main-alone', '', { 'v1.multus-cni.io/default-network': 'default/alone', ...annotations });
    const cause =
      /annotation alone\.default\.kubernetes\.io\/logical_switch: a main NIC of another plugin cannot have its address from Subnet macvlan/;
    await waitForEvent(scene, 'main-alone', 'PodNetworkUpdateFailed', cause);
    // The agent reads the annotation. It follows the Event: a new text is written every 10 seconds.
    await eventually(async () => {
      const { metadata } = await scene.kubernetes.get('Pod', 'main-alone');
      expect(metadata.annotations?.[waitingAnnotation]).to.match(cause);
    });
    const { result } = await callKubeOvnPlugin(scene, { pod: 'main-alone', network: 'alone' });
    expect(result)
      .to.have.property('details')
      .that.matches(cause)
      .and.contains('Run: kubectl ipledger why default/main-alone');
  });

  it('a Pod waits for a missing Subnet, and is refused a Subnet of another provider', async () => {
    await makePod(scene, 'early', 'macvlan', { [key('logical_switch')]: 'later' });
    await waitForEvent(scene, 'early', 'PodNetworkUpdateFailed', /logical_switch: there is no Subnet later: create or/);
    await makeSubnet(scene, 'later', { cidrBlock: '10.22.0.0/24', provider: 'ovn' });
    expect(await waitForAnnotations(scene, 'early', provider)).to.include({
      ip_address: '10.22.0.2',
      logical_switch: 'later',
    });
    await makeSubnet(scene, 'vlan', { cidrBlock: '10.23.0.0/24', provider: 'vlan.default' });
    await makePod(scene, 'elsewhere', 'macvlan', { [key('logical_switch')]: 'vlan' });
    await waitForEvent(
      scene,
      'elsewhere',
      'PodNetworkUpdateFailed',
      /Subnet vlan serves provider vlan\.default: name one of/,
    );
  });
});
