/** Manifests 08 and 09: a macvlan NIC on a Subnet whose provider is `ovn`, which the Pod names. */
import { expect } from 'chai';
import { ip } from '../harness/network.ts';
import { expectAgreement } from './agreement.ts';
import { apply, attached, routesIn, shownOf } from './manifests.ts';
import { plugin } from './plugin.ts';
import { itOnMacvlan, linkOf } from './sandbox.ts';
import { eventOf, makeNetwork, makePod, makeSubnet, openScene, type Scene } from './scene.ts';

const folder = 'manage-multiple-interface';
const provider = 'macvlan.default';
const key = (suffix: string): string => `${provider}.kubernetes.io/${suffix}`;
const named = { [key('logical_switch')]: 'macvlan' };

describe("the documents' manifests: a Subnet that the Pod names", function () {
  this.timeout(120_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    await apply(scene, folder, '01-nad-macvlan');
    await apply(scene, folder, '08-subnet-provider-ovn');
    await makeSubnet(scene, 'by-provider', { cidrBlock: '10.21.0.0/24', provider });
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  it('09: it goes before a Subnet of the provider, and nothing of the primary network is taken', async () => {
    await apply(scene, folder, '09-pod-logical-switch');
    expect(await shownOf(scene, 'samplepod', provider)).to.deep.equal({
      ip_address: '172.17.0.11',
      cidr: '172.17.0.0/16',
      gateway: '172.17.0.1',
      allocated: 'true',
      logical_switch: 'macvlan',
    });
    await makePod(scene, 'unnamed', 'macvlan');
    expect(await shownOf(scene, 'unnamed', provider)).to.include({ ip_address: '10.21.0.2' });
    const { annotations } = (await scene.kubernetes.get('Pod', 'samplepod')).metadata;
    expect(annotations).to.not.have.property('ovn.kubernetes.io/allocated');
  });

  itOnMacvlan('09: its NIC has that address', async () => {
    const sandbox = await attached(scene, { pod: 'samplepod', network: 'macvlan' });
    expect((await linkOf(sandbox)).addresses).to.deep.equal(['172.17.0.11/16']);
    expect(await routesIn(sandbox)).to.deep.equal([]);
  });

  it('a fixed address and a MAC', async () => {
    const asked = { [key('ip_address')]: '172.17.0.100', [key('mac_address')]: '00:00:00:53:6B:BB' };
    await makePod(scene, 'fixed', 'macvlan', { ...named, ...asked });
    expect(await shownOf(scene, 'fixed', provider)).to.include({
      ip_address: '172.17.0.100',
      mac_address: '00:00:00:53:6B:BB',
    });
  });

  it('a list of addresses', async () => {
    const list = { ...named, [key('ip_pool')]: '172.17.0.200,172.17.0.201' };
    const got: (string | undefined)[] = [];
    for (const pod of ['listed-1', 'listed-2']) {
      await makePod(scene, pod, 'macvlan', list);
      got.push((await shownOf(scene, pod, provider))['ip_address']);
    }
    expect(got).to.deep.equal(['172.17.0.200', '172.17.0.201']);
  });

  itOnMacvlan('the default route, as Multus sets it through its gateway', async () => {
    const networks = '[{"name": "macvlan", "namespace": "default", "default-route": ["172.17.0.1"]}]';
    await makePod(scene, 'routed', networks, named);
    const { ip_address: address } = await shownOf(scene, 'routed', provider);
    const sandbox = await attached(scene, { pod: 'routed', network: 'macvlan' });
    expect((await linkOf(sandbox)).addresses).to.deep.equal([`${address}/16`]);
    await ip(sandbox, ['route', 'add', 'default', 'via', '172.17.0.1', 'dev', 'net1']);
    expect(await routesIn(sandbox)).to.deep.equal(['default via 172.17.0.1 dev net1']);
  });

  it('a main NIC is refused, and the Event says what to do instead', async () => {
    await makePod(scene, 'main', '', { 'v1.multus-cni.io/default-network': 'default/macvlan', ...named });
    await eventOf(
      scene,
      'main',
      'PodNetworkUpdateFailed',
      /logical_switch: a main NIC of another plugin cannot have its address from Subnet macvlan of provider ovn: give it a Subnet with spec\.provider "macvlan\.default"/,
    );
  });

  it('a main NIC is refused: the CNI error names the cause that the Event names', async () => {
    await makeNetwork(scene, 'alone');
    const annotations = { 'alone.default.kubernetes.io/logical_switch': 'macvlan' };
    await makePod(scene, 'main-alone', '', { 'v1.multus-cni.io/default-network': 'default/alone', ...annotations });
    const cause =
      /annotation alone\.default\.kubernetes\.io\/logical_switch: a main NIC of another plugin cannot have its address from Subnet macvlan/;
    await eventOf(scene, 'main-alone', 'PodNetworkUpdateFailed', cause);
    const { result } = await plugin(scene, { pod: 'main-alone', network: 'alone' });
    expect(result)
      .to.have.property('details')
      .that.matches(cause)
      .and.contains('Run: kubectl ipledger why default/main-alone');
  });

  it('a Subnet that is not there is waited for, and one of another provider is refused', async () => {
    await makePod(scene, 'early', 'macvlan', { [key('logical_switch')]: 'later' });
    await eventOf(scene, 'early', 'PodNetworkUpdateFailed', /logical_switch: there is no Subnet later: create or/);
    await makeSubnet(scene, 'later', { cidrBlock: '10.22.0.0/24', provider: 'ovn' });
    expect(await shownOf(scene, 'early', provider)).to.include({ ip_address: '10.22.0.2', logical_switch: 'later' });
    await makeSubnet(scene, 'vlan', { cidrBlock: '10.23.0.0/24', provider: 'vlan.default' });
    await makePod(scene, 'elsewhere', 'macvlan', { [key('logical_switch')]: 'vlan' });
    await eventOf(
      scene,
      'elsewhere',
      'PodNetworkUpdateFailed',
      /Subnet vlan serves provider vlan\.default: name one of/,
    );
  });
});
