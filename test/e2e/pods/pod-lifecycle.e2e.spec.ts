/** Tests the life of a Pod: its attachments get addresses on real links, and release them. */
import { expect } from 'chai';
import { call, connect } from '../../../lib/grpc/client.ts';
import { type AddressRecord, IpamService } from '../../../proto/generated/ipledger.ts';
import { createNodeNamespace, type Namespace } from '../../harness/network/network-namespaces.ts';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import { cnitool, createSandbox, itOnMacvlan, readLink, type Nic, canPing, type Sandbox } from '../support/sandbox.ts';
import {
  waitForAddress,
  makeNetwork,
  makePod,
  makeSubnet,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

describe('the life of a Pod', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let node: Namespace;
  before(async () => {
    scene = await openTestEnvironment();
    await Promise.all([
      makeNetwork(scene, 'macvlan'),
      makeSubnet(scene, 'macvlan', {
        cidrBlock: '172.17.0.0/16',
        gateway: '172.17.0.1',
        excludeIps: ['172.17.0.0..172.17.0.10'],
      }),
      makeNetwork(scene, 'dual'),
      makeSubnet(scene, 'dual', { cidrBlock: '10.6.0.0/24,fd00:6::/64' }),
    ]);
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  /** Calls ADD in a new sandbox on the node. */
  async function attach(pod: string, network = 'macvlan', more: Partial<Nic> = {}): Promise<Nic> {
    node ??= await createNodeNamespace(scene.run, 'node-1');
    const sandbox = more.sandbox ?? (await createSandbox(scene.run, pod));
    const nic = { node, sandbox, pod, network, ...more };
    const { code, stdout, stderr } = await cnitool(scene, 'add', nic);
    expect(code, `${stdout}${stderr}`).to.equal(0);
    return nic;
  }

  async function detach(nic: Nic): Promise<void> {
    const { code, stdout, stderr } = await cnitool(scene, 'del', nic);
    expect(code, `${stdout}${stderr}`).to.equal(0);
  }

  async function recordOf(address: string, subnet = 'macvlan'): Promise<AddressRecord | undefined> {
    const client = connect(scene.stack.allocator.endpoint, undefined);
    try {
      return (await call(client, IpamService.getAddress, { subnet, address }, { timeoutMs: 20_000 })).record;
    } finally {
      client.close();
    }
  }

  /** Waits until an address has this state, and is bound to exactly these sandboxes. */
  const expectRecord = (address: string, state: string, ...sandboxes: readonly Sandbox[]): Promise<void> =>
    eventually(async () => {
      const record = await recordOf(address);
      const bound = record?.bindings.map(({ containerId }) => containerId);
      expect({ state: record?.state, bound }).to.deep.equal({
        state,
        bound: sandboxes.map(({ containerId }) => containerId),
      });
    });

  it('a Pod gets the lowest free address, shown by annotations, IP object and Subnet status', async () => {
    await makePod(scene, 'random', 'default/macvlan');
    expect(await waitForAddress(scene, 'random', 'macvlan')).to.equal('172.17.0.11');
    const key = 'macvlan.default.kubernetes.io';
    // Waits, because another patch removes the reason of an earlier wait.
    await eventually(async () =>
      expect((await scene.kubernetes.get('Pod', 'random')).metadata.annotations).to.deep.equal({
        'k8s.v1.cni.cncf.io/networks': 'default/macvlan',
        [`${key}/ip_address`]: '172.17.0.11',
        [`${key}/cidr`]: '172.17.0.0/16',
        [`${key}/gateway`]: '172.17.0.1',
        [`${key}/allocated`]: 'true',
        [`${key}/routed`]: 'true',
      }),
    );
    const object = await eventually(() => scene.kubernetes.get('IP', 'random.default.macvlan.default'));
    expect(object.spec).to.include({ v4IpAddress: '172.17.0.11', nodeName: 'node-1', subnet: 'macvlan' });
  });

  itOnMacvlan('the NIC of a Pod has its address, and two Pods can ping each other', async () => {
    await makePod(scene, 'peer', 'macvlan');
    await Promise.all([waitForAddress(scene, 'random', 'macvlan'), waitForAddress(scene, 'peer', 'macvlan')]);
    const [first, peer] = [await attach('random'), await attach('peer')];
    expect((await readLink(first.sandbox)).addresses).to.deep.equal(['172.17.0.11/16']);
    expect((await readLink(peer.sandbox)).addresses).to.deep.equal(['172.17.0.12/16']);
    expect(await canPing(first.sandbox, '172.17.0.12')).to.be.true;
    expect(await canPing(peer.sandbox, '172.17.0.11')).to.be.true;
    await expectRecord('172.17.0.11', 'bound', first.sandbox);
  });

  itOnMacvlan('an ADD before its Pod has an address waits for the address', async () => {
    await scene.stack.watcher.stop();
    await makePod(scene, 'early', 'macvlan');
    const attaching = attach('early');
    await scene.stack.watcher.start();
    const { sandbox } = await attaching;
    expect((await readLink(sandbox)).addresses).to.deep.equal([
      `${await waitForAddress(scene, 'early', 'macvlan')}/16`,
    ]);
  });

  itOnMacvlan('KO-4834 a Pod that requests an address and a MAC has both on its link', async () => {
    await makePod(scene, 'static-ip', 'default/macvlan', {
      'macvlan.default.kubernetes.io/ip_address': '172.17.0.100',
      'macvlan.default.kubernetes.io/mac_address': '00:00:00:53:6B:BB',
    });
    expect(await waitForAddress(scene, 'static-ip', 'macvlan')).to.equal('172.17.0.100');
    const { sandbox } = await attach('static-ip');
    expect(await readLink(sandbox)).to.deep.equal({ mac: '00:00:00:53:6b:bb', addresses: ['172.17.0.100/16'] });
  });

  itOnMacvlan('two attachments of one network become two NICs with an address each', async () => {
    await makePod(scene, 'twice', 'macvlan,macvlan');
    const first = await waitForAddress(scene, 'twice', 'macvlan');
    const { sandbox } = await attach('twice');
    await attach('twice', 'macvlan', { sandbox, ifName: 'net2' });
    const links = [await readLink(sandbox, 'net1'), await readLink(sandbox, 'net2')];
    expect(links[0]?.addresses).to.deep.equal([`${first}/16`]);
    expect(links[1]?.addresses).to.have.length(1).and.not.include(`${first}/16`);
    await eventually(async () => {
      const { metadata } = await scene.kubernetes.get('Pod', 'twice');
      expect(`${metadata.annotations?.['macvlan.default.kubernetes.io/ip_address.net2']}/16`).to.equal(
        links[1]?.addresses[0],
      );
    });
  });

  itOnMacvlan('a NIC of a dual-stack Subnet gets one address of each family', async () => {
    await makePod(scene, 'both', 'dual');
    expect(await waitForAddress(scene, 'both', 'dual')).to.equal('10.6.0.2,fd00:6::2');
    const { sandbox } = await attach('both', 'dual');
    expect((await readLink(sandbox)).addresses).to.have.members(['10.6.0.2/24', 'fd00:6::2/64']);
  });

  itOnMacvlan('DEL unbinds the address, and the later deletion of the Pod releases it', async () => {
    await makePod(scene, 'orderly', 'macvlan');
    const address = await waitForAddress(scene, 'orderly', 'macvlan');
    const nic = await attach('orderly');
    await detach(nic);
    await expectRecord(address, 'allocated');
    await scene.kubernetes.remove('Pod', 'orderly');
    await expectRecord(address, 'cooldown');
  });

  itOnMacvlan('an address of a deleted Pod is held until DEL, while the container can still answer on it', async () => {
    await makePod(scene, 'hasty', 'macvlan');
    const address = await waitForAddress(scene, 'hasty', 'macvlan');
    const nic = await attach('hasty');
    await scene.kubernetes.remove('Pod', 'hasty');
    await expectRecord(address, 'held', nic.sandbox);
    await detach(nic);
    await expectRecord(address, 'cooldown');
  });

  itOnMacvlan('a sandbox that is created before the DEL of the earlier sandbox keeps the address', async () => {
    await makePod(scene, 'restarted', 'macvlan');
    const address = await waitForAddress(scene, 'restarted', 'macvlan');
    const before = await attach('restarted');
    const now = await attach('restarted', 'macvlan', { sandbox: await createSandbox(scene.run, 'restarted-again') });
    await expectRecord(address, 'bound', before.sandbox, now.sandbox);
    await detach(before);
    await expectRecord(address, 'bound', now.sandbox);
    expect((await readLink(now.sandbox)).addresses).to.deep.equal([`${address}/16`]);
  });

  it('a terminated Pod releases its address and keeps its annotations', async () => {
    await makePod(scene, 'job', 'macvlan');
    const address = await waitForAddress(scene, 'job', 'macvlan');
    await scene.kubernetes.patch('Pod', 'job', { status: { phase: 'Succeeded' } }, 'status');
    await expectRecord(address, 'cooldown');
    expect(await waitForAddress(scene, 'job', 'macvlan')).to.equal(address);
  });

  it('a deleted Pod releases its address', async () => {
    await makePod(scene, 'short', 'macvlan');
    const address = await waitForAddress(scene, 'short', 'macvlan');
    await scene.kubernetes.remove('Pod', 'short');
    await expectRecord(address, 'cooldown');
  });
});
