/** What the agent does inside a Pod's network namespace, on real macvlan links: IPv6 is let in, and an asked-for MAC is set. */
import { expect } from 'chai';
import type { CniAnswer } from '../harness/cni.ts';
import { mustRun } from '../harness/command.ts';
import { createNode, ip, type Namespace } from '../harness/network.ts';
import { expectAgreement } from './agreement.ts';
import { attach, detach, expectBound, macvlan } from './attached.ts';
import { eventually } from './eventually.ts';
import { plugin } from './plugin.ts';
import { cnitool, createSandbox, itOnMacvlan, linkOf, type Nic, pings } from './sandbox.ts';
import {
  addressOf,
  eventOf,
  macvlanConfig,
  makeNetwork,
  makeNetworkAndSubnet,
  makePod,
  makeSubnet,
  openScene,
  type Scene,
} from './scene.ts';

describe('the CNI contract: inside the sandbox', function () {
  this.timeout(120_000);
  let scene: Scene;
  let node: Namespace;
  before(async () => {
    scene = await openScene();
    await Promise.all([
      makeNetworkAndSubnet(scene, 'six', 'fd00:13::/64'),
      makeNetworkAndSubnet(scene, 'four', '10.13.0.0/24'),
    ]);
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  async function prepare(pod: string, network: string, annotations = {}): Promise<{ nic: Nic; address: string }> {
    node ??= await createNode(scene.run, 'node-1');
    await makePod(scene, pod, network, annotations);
    const address = await addressOf(scene, pod, network);
    return { nic: { node, sandbox: await createSandbox(scene.run, pod), pod, network }, address };
  }

  const inside = (sandbox: Namespace, script: string): Promise<string> =>
    mustRun('nsenter', [`--net=${sandbox.path}`, 'sh', '-c', script]);

  const ipv6 = async (sandbox: Namespace, setting: string): Promise<string> =>
    (await inside(sandbox, `cat /proc/sys/net/ipv6/conf/${setting}`)).trim();

  itOnMacvlan('a namespace in which IPv6 is switched off has it on the NIC that gets an IPv6 address', async () => {
    const { nic, address } = await prepare('switched-off', 'six');
    const off = 'for of in all default; do echo 1 >/proc/sys/net/ipv6/conf/$of/disable_ipv6; done';
    await inside(nic.sandbox, off);
    await attach(scene, nic);
    expect((await linkOf(nic.sandbox)).addresses).to.deep.equal([`${address}/64`]);
    expect(await ipv6(nic.sandbox, 'net1/disable_ipv6')).to.equal('0');
    expect(await ipv6(nic.sandbox, 'default/disable_ipv6')).to.equal('1');

    const peer = await prepare('peer', 'six');
    await attach(scene, peer.nic);
    // Nobody answers before the kernel knows that the address is nobody else's.
    await eventually(async () => expect(await pings(peer.nic.sandbox, address)).to.be.true);
    await eventually(async () => expect(await pings(nic.sandbox, peer.address)).to.be.true);
  });

  itOnMacvlan('no router gives that NIC an address or a route; duplicates are looked for as ever', async () => {
    const { nic } = await prepare('no-router', 'six');
    await attach(scene, nic);
    expect(await ipv6(nic.sandbox, 'net1/accept_ra')).to.equal('0');
    expect(await ipv6(nic.sandbox, 'net1/accept_dad')).to.equal('1');
  });

  itOnMacvlan('a NIC that gets no IPv6 address is left as it is', async () => {
    const { nic } = await prepare('four-only', 'four');
    await attach(scene, nic);
    expect(await ipv6(nic.sandbox, 'net1/accept_ra')).to.equal('1');
  });

  itOnMacvlan('a MAC that cannot be set fails the ADD, which leaves no binding behind', async () => {
    const annotations = { 'four.default.kubernetes.io/mac_address': '02:00:00:00:13:01' };
    const { nic, address } = await prepare('linkless', 'four', annotations);
    const call = { pod: 'linkless', network: 'four', netns: nic.sandbox.path };
    const linkless = await plugin(scene, call);
    expect(linkless.result).to.have.property('code', 11);
    expect(linkless.stdout).to.contain('MAC 02:00:00:00:13:01 for net1: there is no such link');
    const config = { ...macvlanConfig(scene, 'four.default'), name: 'four', type: 'ipvlan' };
    const shared = await plugin(scene, { ...call, config });
    expect(shared.stdout).to.contain("ipvlan links share their master's MAC; use macvlan");
    await expectBound(scene, ['four', address]);
    await attach(scene, nic);
    expect(await linkOf(nic.sandbox)).to.deep.equal({ mac: '02:00:00:00:13:01', addresses: [`${address}/24`] });
  });

  /** ADD and CHECK of a Pod that asks for a MAC, as Multus calls macvlan with or without the capability for it. */
  async function addAndCheck(pod: string, mac: string, more: object): Promise<{ made: object; check: CniAnswer }> {
    const { nic } = await prepare(pod, 'four', { 'four.default.kubernetes.io/mac_address': mac });
    const config = { ...macvlanConfig(scene, 'four.default'), cniVersion: '1.1.0', ...more };
    const added = await macvlan('ADD', nic, config);
    expect(added.code, added.stdout).to.equal(0);
    expect((await linkOf(nic.sandbox)).mac).to.equal(mac);
    const [made] = (added.result as { interfaces: object[] }).interfaces;
    return { made: made ?? {}, check: await macvlan('CHECK', nic, { ...config, prevResult: added.result }) };
  }

  itOnMacvlan('a MAC that macvlan is told too, by its capability, is in its result, and CHECK is content', async () => {
    const mac = '02:00:00:00:13:02';
    const { made, check } = await addAndCheck('capable', mac, { runtimeConfig: { mac } });
    expect(made).to.include({ mac });
    expect(check, check.stdout).to.include({ code: 0, stdout: '' });
  });

  itOnMacvlan('a MAC is in the result and CHECK is content, where kube-ovn is chained behind macvlan', async () => {
    const single = macvlanConfig(scene, 'chained.default');
    const { cniVersion: _, ...macvlanPart } = single;
    await makeNetwork(scene, 'chained', { cniVersion: '1.0.0', plugins: [macvlanPart, { type: 'kube-ovn' }] });
    await makeSubnet(scene, 'chained', { cidrBlock: '10.15.0.0/24' });
    const mac = '02:00:00:00:15:01';
    const asking = { 'chained.default.kubernetes.io/mac_address': mac };
    const { nic, address } = await prepare('chained-behind', 'chained', asking);
    const { result } = await attach(scene, nic);
    const [made] = (result as { interfaces: object[] }).interfaces;
    expect(made).to.include({ name: 'net1', mac, sandbox: nic.sandbox.path });
    expect(await linkOf(nic.sandbox)).to.deep.equal({ mac, addresses: [`${address}/24`] });
    const check = await cnitool(scene, 'check', nic);
    expect(check, `${check.stdout}${check.stderr}`).to.include({ code: 0, stdout: '' });

    await ip(nic.sandbox, ['link', 'set', 'dev', 'net1', 'address', '02:00:00:00:15:99']);
    const differs = await cnitool(scene, 'check', nic);
    expect(differs.code).to.equal(1);
    await ip(nic.sandbox, ['link', 'set', 'dev', 'net1', 'address', mac]);
    await detach(scene, nic);
    await expectBound(scene, ['chained', address]);
    const events = await scene.kubernetes.list('Event', 'fieldSelector=involvedObject.name=chained-behind');
    expect(JSON.stringify(events)).to.not.contain('PodNetworkMacNotInResult');
  });

  itOnMacvlan('a Pod whose MAC macvlan is not told gets an Event that names the remedies', async () => {
    await prepare('told-of-mac', 'four', { 'four.default.kubernetes.io/mac_address': '02:00:00:00:13:04' });
    await eventOf(scene, 'told-of-mac', 'PodNetworkMacNotInResult', /"capabilities": \{"mac": true\}.* or chain /);
  });

  itOnMacvlan(
    'a MAC that macvlan is not told is on the link, and macvlan’s own CHECK misses the one it made',
    async () => {
      const mac = '02:00:00:00:13:03';
      const { made, check } = await addAndCheck('untold', mac, {});
      expect(made).to.have.property('mac').that.does.not.equal(mac);
      expect(check.stdout).to.contain(`doesn't match container Mac: ${mac}`);
    },
  );
});
