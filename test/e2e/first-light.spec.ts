/** The whole path once: a Pod with attachments gets its addresses, on real links, and gives them back. */
import { expect } from 'chai';
import { call, connect } from '../../lib/rpc.ts';
import { type AddressRecord, IpamService } from '../../proto/ipledger.ts';
import { createNode, type Namespace } from '../harness/network.ts';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import { cnitool, createSandbox, itOnMacvlan, linkOf, type Nic, pings, type Sandbox } from './sandbox.ts';
import { addressOf, makeNetwork, makePod, makeSubnet, openScene, type Scene } from './scene.ts';

describe('first light', function () {
  this.timeout(120_000);
  let scene: Scene;
  let node: Namespace;
  before(async () => {
    scene = await openScene();
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
  afterEach(() => expectAgreement(scene.stack));

  /** ADD in a new sandbox on the node. */
  async function attach(pod: string, network = 'macvlan', more: Partial<Nic> = {}): Promise<Nic> {
    node ??= await createNode(scene.run, 'node-1');
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
      return (await call(client, IpamService.get, { subnet, address }, { timeoutMs: 20_000 })).record;
    } finally {
      client.close();
    }
  }

  /** Waits until an address is in this state, and bound to these sandboxes. */
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
    expect(await addressOf(scene, 'random', 'macvlan')).to.equal('172.17.0.11');
    const { metadata } = await scene.kubernetes.get('Pod', 'random');
    const key = 'macvlan.default.kubernetes.io';
    expect(metadata.annotations).to.deep.equal({
      'k8s.v1.cni.cncf.io/networks': 'default/macvlan',
      [`${key}/ip_address`]: '172.17.0.11',
      [`${key}/cidr`]: '172.17.0.0/16',
      [`${key}/gateway`]: '172.17.0.1',
      [`${key}/allocated`]: 'true',
    });
    const object = await eventually(() => scene.kubernetes.get('IP', 'random.default.macvlan.default'));
    expect(object.spec).to.include({ v4IpAddress: '172.17.0.11', nodeName: 'node-1', subnet: 'macvlan' });
  });

  itOnMacvlan('its NIC has that address, and Pods reach each other', async () => {
    await makePod(scene, 'peer', 'macvlan');
    await Promise.all([addressOf(scene, 'random', 'macvlan'), addressOf(scene, 'peer', 'macvlan')]);
    const [one, other] = [await attach('random'), await attach('peer')];
    expect((await linkOf(one.sandbox)).addresses).to.deep.equal(['172.17.0.11/16']);
    expect((await linkOf(other.sandbox)).addresses).to.deep.equal(['172.17.0.12/16']);
    expect(await pings(one.sandbox, '172.17.0.12')).to.be.true;
    expect(await pings(other.sandbox, '172.17.0.11')).to.be.true;
    await expectRecord('172.17.0.11', 'bound', one.sandbox);
  });

  itOnMacvlan('an ADD that comes before its Pod has an address waits for it', async () => {
    await scene.stack.watcher.stop();
    await makePod(scene, 'early', 'macvlan');
    const attaching = attach('early');
    await scene.stack.watcher.start();
    const { sandbox } = await attaching;
    expect((await linkOf(sandbox)).addresses).to.deep.equal([`${await addressOf(scene, 'early', 'macvlan')}/16`]);
  });

  itOnMacvlan('KO-4834 a Pod that asks for an address and a MAC has both on its link', async () => {
    await makePod(scene, 'static-ip', 'default/macvlan', {
      'macvlan.default.kubernetes.io/ip_address': '172.17.0.100',
      'macvlan.default.kubernetes.io/mac_address': '00:00:00:53:6B:BB',
    });
    expect(await addressOf(scene, 'static-ip', 'macvlan')).to.equal('172.17.0.100');
    const { sandbox } = await attach('static-ip');
    expect(await linkOf(sandbox)).to.deep.equal({ mac: '00:00:00:53:6b:bb', addresses: ['172.17.0.100/16'] });
  });

  itOnMacvlan('two attachments of one network are two NICs with an address each', async () => {
    await makePod(scene, 'twice', 'macvlan,macvlan');
    const first = await addressOf(scene, 'twice', 'macvlan');
    const { sandbox } = await attach('twice');
    await attach('twice', 'macvlan', { sandbox, ifName: 'net2' });
    const links = [await linkOf(sandbox, 'net1'), await linkOf(sandbox, 'net2')];
    expect(links[0]?.addresses).to.deep.equal([`${first}/16`]);
    expect(links[1]?.addresses).to.have.length(1).and.not.include(`${first}/16`);
    await eventually(async () => {
      const { metadata } = await scene.kubernetes.get('Pod', 'twice');
      expect(`${metadata.annotations?.['macvlan.default.kubernetes.io/ip_address.net2']}/16`).to.equal(
        links[1]?.addresses[0],
      );
    });
  });

  itOnMacvlan('a Subnet of both families gives one address of each', async () => {
    await makePod(scene, 'both', 'dual');
    expect(await addressOf(scene, 'both', 'dual')).to.equal('10.6.0.2,fd00:6::2');
    const { sandbox } = await attach('both', 'dual');
    expect((await linkOf(sandbox)).addresses).to.have.members(['10.6.0.2/24', 'fd00:6::2/64']);
  });

  itOnMacvlan('DEL, then the Pod’s deletion: unbound, then released', async () => {
    await makePod(scene, 'orderly', 'macvlan');
    const address = await addressOf(scene, 'orderly', 'macvlan');
    const nic = await attach('orderly');
    await detach(nic);
    await expectRecord(address, 'allocated');
    await scene.kubernetes.remove('Pod', 'orderly');
    await expectRecord(address, 'cooling');
  });

  itOnMacvlan(
    'the Pod’s deletion, then DEL: nobody gets the address while the container may answer on it',
    async () => {
      await makePod(scene, 'hasty', 'macvlan');
      const address = await addressOf(scene, 'hasty', 'macvlan');
      const nic = await attach('hasty');
      await scene.kubernetes.remove('Pod', 'hasty');
      await expectRecord(address, 'held', nic.sandbox);
      await detach(nic);
      await expectRecord(address, 'cooling');
    },
  );

  itOnMacvlan('a sandbox that is re-created before the old one’s DEL keeps the address', async () => {
    await makePod(scene, 'restarted', 'macvlan');
    const address = await addressOf(scene, 'restarted', 'macvlan');
    const before = await attach('restarted');
    const now = await attach('restarted', 'macvlan', { sandbox: await createSandbox(scene.run, 'restarted-again') });
    await expectRecord(address, 'bound', before.sandbox, now.sandbox);
    await detach(before);
    await expectRecord(address, 'bound', now.sandbox);
    expect((await linkOf(now.sandbox)).addresses).to.deep.equal([`${address}/16`]);
  });

  it('a Pod whose containers have ended for good gives its address back, and still shows what it had', async () => {
    await makePod(scene, 'job', 'macvlan');
    const address = await addressOf(scene, 'job', 'macvlan');
    await scene.kubernetes.patch('Pod', 'job', { status: { phase: 'Succeeded' } }, 'status');
    await expectRecord(address, 'cooling');
    expect(await addressOf(scene, 'job', 'macvlan')).to.equal(address);
  });

  it('a Pod that is deleted gives its address back', async () => {
    await makePod(scene, 'short', 'macvlan');
    const address = await addressOf(scene, 'short', 'macvlan');
    await scene.kubernetes.remove('Pod', 'short');
    await expectRecord(address, 'cooling');
  });
});
