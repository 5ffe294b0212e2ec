/**
 * Tests the agent's changes in a Pod's network namespace, on real macvlan links: it enables IPv6,
 * and sets a requested MAC.
 */
import { expect } from 'chai';
import type { CniAnswer } from '../../harness/cni.ts';
import { mustRun } from '../../harness/processes/command.ts';
import { createNodeNamespace, ip, type Namespace } from '../../harness/network/network-namespaces.ts';
import { expectConsistency } from '../support/consistency.ts';
import { attach, detach, expectBound, callMacvlanPlugin, readAddressRecord } from '../support/attachments.ts';
import { eventually } from '../support/eventually.ts';
import { callKubeOvnPlugin } from '../support/plugin-call.ts';
import { cnitool, createSandbox, itOnMacvlan, readLink, type Nic, canPing } from '../support/sandbox.ts';
import {
  waitForAddress,
  waitForEvent,
  macvlanConfig,
  makeNetwork,
  makeNetworkAndSubnet,
  makePod,
  makeSubnet,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

describe('the CNI contract: inside the sandbox', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let node: Namespace;
  before(async () => {
    scene = await openTestEnvironment();
    await Promise.all([
      makeNetworkAndSubnet(scene, 'six', 'fd00:13::/64'),
      makeNetworkAndSubnet(scene, 'four', '10.13.0.0/24'),
    ]);
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  async function prepare(pod: string, network: string, annotations = {}): Promise<{ nic: Nic; address: string }> {
    node ??= await createNodeNamespace(scene.run, 'node-1');
    await makePod(scene, pod, network, annotations);
    const address = await waitForAddress(scene, pod, network);
    return { nic: { node, sandbox: await createSandbox(scene.run, pod), pod, network }, address };
  }

  const inside = (sandbox: Namespace, script: string): Promise<string> =>
    mustRun('nsenter', [`--net=${sandbox.path}`, 'sh', '-c', script]);

  const ipv6 = async (sandbox: Namespace, setting: string): Promise<string> =>
    (await inside(sandbox, `cat /proc/sys/net/ipv6/conf/${setting}`)).trim();

  itOnMacvlan('IPv6 is enabled on a NIC with an IPv6 address where the namespace disables it', async () => {
    const { nic, address } = await prepare('switched-off', 'six');
    const off = 'for of in all default; do echo 1 >/proc/sys/net/ipv6/conf/$of/disable_ipv6; done';
    await inside(nic.sandbox, off);
    await attach(scene, nic);
    expect((await readLink(nic.sandbox)).addresses).to.deep.equal([`${address}/64`]);
    expect(await ipv6(nic.sandbox, 'net1/disable_ipv6')).to.equal('0');
    expect(await ipv6(nic.sandbox, 'default/disable_ipv6')).to.equal('1');

    const peer = await prepare('peer', 'six');
    await attach(scene, peer.nic);
    // Repeats the ping: the kernel replies only after duplicate address detection.
    await eventually(async () => expect(await canPing(peer.nic.sandbox, address)).to.be.true);
    await eventually(async () => expect(await canPing(nic.sandbox, peer.address)).to.be.true);
  });

  itOnMacvlan('a NIC with an IPv6 address ignores router advertisements, and detects duplicate addresses', async () => {
    const { nic } = await prepare('no-router', 'six');
    await attach(scene, nic);
    expect(await ipv6(nic.sandbox, 'net1/accept_ra')).to.equal('0');
    expect(await ipv6(nic.sandbox, 'net1/accept_dad')).to.equal('1');
  });

  itOnMacvlan('a NIC without an IPv6 address keeps its settings', async () => {
    const { nic } = await prepare('four-only', 'four');
    await attach(scene, nic);
    expect(await ipv6(nic.sandbox, 'net1/accept_ra')).to.equal('1');
  });

  describe('a neighbor that owns an address of a Subnet with probeAddresses', () => {
    const mac = '52:54:00:00:17:02';
    const [taken, taken6, requested, listed] = ['10.17.0.2', 'fd00:17::3', '10.17.0.50', '10.17.0.60'];
    let subnet: Promise<unknown> | undefined;
    async function makeNeighbor(): Promise<void> {
      await makeNetwork(scene, 'probed');
      const cidrBlock = '10.17.0.0/24,fd00:17::/64';
      await makeSubnet(scene, 'probed', { cidrBlock, probeAddresses: true });
      const neighbor = await createNodeNamespace(scene.run, 'neighbor');
      await ip(neighbor, ['link', 'set', 'dev', 'eth0', 'address', mac]);
      for (const own of [`${taken}/24`, `${requested}/24`, `${listed}/24`, `${taken6}/64`])
        await ip(neighbor, ['address', 'add', own, 'dev', 'eth0', ...(own.includes(':') ? ['nodad'] : [])]);
    }
    beforeEach(() => (subnet ??= makeNeighbor()));

    itOnMacvlan('a dynamic Pod gets the next addresses in the same ADD, and the ledger has MAC and node', async () => {
      const { nic, address } = await prepare('dynamic', 'probed');
      expect(address).to.equal(`${taken},fd00:17::2`);
      await attach(scene, nic);
      // The first conflict is of IPv4. Then the Pod gets the next addresses, of which the neighbor
      // has that of IPv6.
      expect((await readLink(nic.sandbox)).addresses).to.deep.equal(['10.17.0.4/24', 'fd00:17::4/64']);
      for (const conflicting of [taken, taken6]) {
        const record = await readAddressRecord(scene, 'probed', conflicting);
        expect(record?.quarantine).to.include({ seenMac: mac, seenAt: 'node-1' });
        expect(record?.allocation).to.equal(undefined);
      }
      await eventually(async () =>
        expect(await waitForAddress(scene, 'dynamic', 'probed')).to.equal('10.17.0.4,fd00:17::4'),
      );
    });

    itOnMacvlan('a Pod with a list of addresses gets another one of its list in the same ADD', async () => {
      const other = '10.17.0.61';
      const { nic, address } = await prepare('listing', 'probed', {
        'probed.default.kubernetes.io/ip_pool': `${listed},${other}`,
        'probed.default.kubernetes.io/ip_family': 'ipv4',
      });
      expect(address).to.equal(listed);
      await attach(scene, nic);
      expect((await readLink(nic.sandbox)).addresses).to.deep.equal([`${other}/24`]);
      const record = await readAddressRecord(scene, 'probed', listed);
      expect(record?.quarantine).to.include({ seenMac: mac, seenAt: 'node-1' });
      await eventually(async () => expect(await waitForAddress(scene, 'listing', 'probed')).to.equal(other));
    });

    itOnMacvlan('the ADD of a Pod that requests the address fails with address, MAC and remedy', async () => {
      const { nic } = await prepare('requesting', 'probed', {
        'probed.default.kubernetes.io/ip_address': requested,
        'probed.default.kubernetes.io/ip_family': 'ipv4',
      });
      const { code, stderr } = await cnitool(scene, 'add', nic);
      expect(code).to.equal(1);
      expect(stderr).to.contain(`${mac} answers on ${requested}`).and.contain('quarantined');
      await expectBound(scene, ['probed', requested]);
      await waitForEvent(
        scene,
        'requesting',
        'AcquireAddressFailed',
        new RegExp(`${requested} .* ${mac} answers on it`),
      );
    });
  });

  itOnMacvlan('ADD fails without a binding when the MAC cannot be set', async () => {
    const annotations = { 'four.default.kubernetes.io/mac_address': '02:00:00:00:13:01' };
    const { nic, address } = await prepare('linkless', 'four', annotations);
    const call = { pod: 'linkless', network: 'four', netns: nic.sandbox.path };
    const linkless = await callKubeOvnPlugin(scene, call);
    expect(linkless.result).to.have.property('code', 11);
    expect(linkless.stdout).to.contain('MAC 02:00:00:00:13:01 for net1: there is no such link');
    const config = { ...macvlanConfig(scene, 'four.default'), name: 'four', type: 'ipvlan' };
    const shared = await callKubeOvnPlugin(scene, { ...call, config });
    expect(shared.stdout).to.contain("ipvlan links share their master's MAC; use macvlan");
    await expectBound(scene, ['four', address]);
    await attach(scene, nic);
    expect(await readLink(nic.sandbox)).to.deep.equal({ mac: '02:00:00:00:13:01', addresses: [`${address}/24`] });
  });

  /**
   * Runs ADD and CHECK of a Pod that requests a MAC, as Multus calls macvlan with or without the
   * capability "mac".
   */
  async function addAndCheck(pod: string, mac: string, more: object): Promise<{ made: object; check: CniAnswer }> {
    const { nic } = await prepare(pod, 'four', { 'four.default.kubernetes.io/mac_address': mac });
    const config = { ...macvlanConfig(scene, 'four.default'), cniVersion: '1.1.0', ...more };
    const added = await callMacvlanPlugin('ADD', nic, config);
    expect(added.code, added.stdout).to.equal(0);
    expect((await readLink(nic.sandbox)).mac).to.equal(mac);
    const [made] = (added.result as { interfaces: object[] }).interfaces;
    return { made: made ?? {}, check: await callMacvlanPlugin('CHECK', nic, { ...config, prevResult: added.result }) };
  }

  itOnMacvlan('a MAC that macvlan gets by its capability is in the result, and CHECK succeeds', async () => {
    const mac = '02:00:00:00:13:02';
    const { made, check } = await addAndCheck('capable', mac, { runtimeConfig: { mac } });
    expect(made).to.include({ mac });
    expect(check, check.stdout).to.include({ code: 0, stdout: '' });
  });

  itOnMacvlan('a MAC is in the result and CHECK succeeds where kube-ovn is chained behind macvlan', async () => {
    const single = macvlanConfig(scene, 'chained.default');
    const { cniVersion: _, ...macvlanPart } = single;
    await makeNetwork(scene, 'chained', { cniVersion: '1.0.0', plugins: [macvlanPart, { type: 'kube-ovn' }] });
    await makeSubnet(scene, 'chained', { cidrBlock: '10.15.0.0/24' });
    const mac = '02:00:00:00:15:01';
    const request = { 'chained.default.kubernetes.io/mac_address': mac };
    const { nic, address } = await prepare('chained-behind', 'chained', request);
    const { result } = await attach(scene, nic);
    const [made] = (result as { interfaces: object[] }).interfaces;
    expect(made).to.include({ name: 'net1', mac, sandbox: nic.sandbox.path });
    expect(await readLink(nic.sandbox)).to.deep.equal({ mac, addresses: [`${address}/24`] });
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

  itOnMacvlan('an Event with the remedies reports a Pod whose MAC macvlan does not get', async () => {
    await prepare('warned', 'four', { 'four.default.kubernetes.io/mac_address': '02:00:00:00:13:04' });
    await waitForEvent(scene, 'warned', 'PodNetworkMacNotInResult', /"capabilities": \{"mac": true\}.* or chain /);
  });

  itOnMacvlan('a MAC that macvlan does not get is on the link, but macvlan’s own CHECK fails', async () => {
    const mac = '02:00:00:00:13:03';
    const { made, check } = await addAndCheck('without-capability', mac, {});
    expect(made).to.have.property('mac').that.does.not.equal(mac);
    expect(check.stdout).to.contain(`doesn't match container Mac: ${mac}`);
  });
});
