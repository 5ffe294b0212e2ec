/**
 * Tests the requests of a Pod: addresses, families, pools, Vips, several NICs of one network, and
 * changes while the Pod runs.
 */
import { expect } from 'chai';
import { call, connect } from '../../../lib/grpc/client.ts';
import { IpamService } from '../../../proto/generated/ipledger.ts';
import { expectConsistency } from '../support/consistency.ts';
import { readAddressRecord } from '../support/attachments.ts';
import { eventually } from '../support/eventually.ts';
import { attachPod, detachPod, providerAnnotations, waitForAnnotations } from '../support/manifests.ts';
import { itOnMacvlan, readLink } from '../support/sandbox.ts';
import {
  waitForEvent,
  makeNetworkAndSubnet,
  makePod,
  makeSubnet,
  networksAnnotation,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

const lan = (suffix: string): string => `lan.default.kubernetes.io/${suffix}`;
const dual = (suffix: string): string => `dual.default.kubernetes.io/${suffix}`;

describe('requests of a Pod', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await Promise.all([
      makeNetworkAndSubnet(scene, 'lan', '10.31.0.0/24'),
      makeNetworkAndSubnet(scene, 'dual', '10.32.0.0/24,fd00:32::/64'),
      makeNetworkAndSubnet(scene, 'six', 'fd00:33::/64'),
    ]);
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  const addressOf = async (pod: string, network: string): Promise<string | undefined> =>
    (await waitForAnnotations(scene, pod, `${network}.default`))['ip_address'];

  describe('for several NICs of one network', () => {
    itOnMacvlan('KO-4045 each NIC gets the address and MAC of its element in the networks annotation', async () => {
      const networks = JSON.stringify([
        { name: 'lan', interface: 'net1', ips: ['10.31.0.101/24'], mac: '02:00:00:00:31:01' },
        { name: 'lan', interface: 'net2', ips: ['10.31.0.102'], mac: '02:00:00:00:31:02' },
      ]);
      await makePod(scene, 'two', networks);
      await addressOf('two', 'lan');
      const sandbox = await attachPod(scene, { pod: 'two', network: 'lan', ifName: 'net1' });
      await attachPod(scene, { pod: 'two', network: 'lan', ifName: 'net2', sandbox });
      expect(await readLink(sandbox, 'net1')).to.deep.equal({
        mac: '02:00:00:00:31:01',
        addresses: ['10.31.0.101/24'],
      });
      expect(await readLink(sandbox, 'net2')).to.deep.equal({
        mac: '02:00:00:00:31:02',
        addresses: ['10.31.0.102/24'],
      });
    });

    itOnMacvlan(
      'KO-5848 each NIC of a network gets the address of its interface’s key, in any order of ADDs',
      async () => {
        await makePod(scene, 'keyed', 'lan@net1,lan@net2', {
          [lan('ip_address.net1')]: '10.31.0.111',
          [lan('mac_address.net1')]: '02:00:00:00:31:11',
          [lan('ip_address.net2')]: '10.31.0.112',
        });
        await addressOf('keyed', 'lan');
        const sandbox = await attachPod(scene, { pod: 'keyed', network: 'lan', ifName: 'net2' });
        await attachPod(scene, { pod: 'keyed', network: 'lan', ifName: 'net1', sandbox });
        expect((await readLink(sandbox, 'net2')).addresses).to.deep.equal(['10.31.0.112/24']);
        expect(await readLink(sandbox, 'net1')).to.deep.equal({
          mac: '02:00:00:00:31:11',
          addresses: ['10.31.0.111/24'],
        });
      },
    );
  });

  it('an element of the networks annotation precedes the key of an interface, which precedes ip_address, which precedes ip_pool', async () => {
    const pool = { [lan('ip_pool')]: '10.31.0.121' };
    const plain = { ...pool, [lan('ip_address')]: '10.31.0.122' };
    const all = { ...plain, [lan('ip_address.net1')]: '10.31.0.123' };
    const element = '[{"name":"lan","interface":"net1","ips":["10.31.0.124/24"]}]';
    const got: (string | undefined)[] = [];
    for (const [pod, networks, annotations] of [
      ['element', element, all],
      ['interface', 'lan@net1', all],
      ['plain', 'lan', plain],
      ['pool', 'lan', pool],
    ] as const) {
      await makePod(scene, `first-${pod}`, networks, annotations);
      got.push(await addressOf(`first-${pod}`, 'lan'));
    }
    expect(got).to.deep.equal(['10.31.0.124', '10.31.0.123', '10.31.0.122', '10.31.0.121']);
  });

  it('a Pod can request a MAC without an address', async () => {
    await makePod(scene, 'mac', 'lan', { [lan('mac_address')]: '02:00:00:00:31:21' });
    expect(await waitForAnnotations(scene, 'mac', 'lan.default')).to.include({ mac_address: '02:00:00:00:31:21' });
  });

  describe('in a dual-stack Subnet', () => {
    it('a Pod gets one address of each family in a dual-stack Subnet', async () => {
      await makePod(scene, 'both', 'dual', { [dual('ip_address')]: 'fd00:32::99,10.32.0.99' });
      expect(await waitForAnnotations(scene, 'both', 'dual.default')).to.include({
        ip_address: '10.32.0.99,fd00:32::99',
        cidr: '10.32.0.0/24,fd00:32::/64',
        gateway: '10.32.0.1,fd00:32::1',
      });
    });

    it('a Pod gets the requested address of one family, and any address of the other family', async () => {
      await makePod(scene, 'half', 'dual', { [dual('ip_address')]: 'fd00:32::98' });
      expect(await addressOf('half', 'dual')).to.match(/^10\.32\.0\.\d+,fd00:32::98$/);
    });

    it('Pods get pairs of a list in a dual-stack Subnet', async () => {
      const list = { [dual('ip_pool')]: '10.32.0.201,fd00:32::201;10.32.0.202,fd00:32::202' };
      const got: (string | undefined)[] = [];
      for (const pod of ['pair-1', 'pair-2']) {
        await makePod(scene, pod, 'dual', list);
        got.push(await addressOf(pod, 'dual'));
      }
      expect(got).to.deep.equal(['10.32.0.201,fd00:32::201', '10.32.0.202,fd00:32::202']);
    });

    for (const [family, address] of [
      ['ipv4', /^10\.32\.0\.\d+$/],
      ['ipv6', /^fd00:32::[0-9a-f]+$/],
    ] as const)
      it(`a Pod in a dual-stack Subnet can request only an ${family} address`, async () => {
        await makePod(scene, `only-${family}`, 'dual', { [dual('ip_family')]: family });
        const shown = await waitForAnnotations(scene, `only-${family}`, 'dual.default');
        expect(shown['ip_address']).to.match(address);
        // Expects both CIDRs, as Kube-OVN shows them.
        expect(shown['cidr']).to.equal('10.32.0.0/24,fd00:32::/64');
      });

    it('an Event reports a requested family that the Subnet does not have', async () => {
      await makePod(scene, 'six-of-four', 'lan', { [lan('ip_family')]: 'ipv6' });
      await waitForEvent(
        scene,
        'six-of-four',
        'AcquireAddressFailed',
        /requested ip family IPv6 does not match subnet lan protocol IPv4/,
      );
    });
  });

  itOnMacvlan('a Pod gets an address in an IPv6 Subnet', async () => {
    await makePod(scene, 'six', 'six');
    expect(await addressOf('six', 'six')).to.equal('fd00:33::2');
    const sandbox = await attachPod(scene, { pod: 'six', network: 'six' });
    expect((await readLink(sandbox)).addresses).to.deep.equal(['fd00:33::2/64']);
  });

  describe('for an address of an IPPool', () => {
    const poolOf = (name: string, ips: string, more = ''): string =>
      `{"apiVersion":"kubeovn.io/v1","kind":"IPPool","metadata":{"name":"${name}"},"spec":{"subnet":"lan","ips":["${ips}"]${more}}}`;

    it('a Pod waits for the IPPool that it names, and gets an address of it', async () => {
      await makePod(scene, 'drawing', 'lan', { [lan('ip_pool')]: 'drawn' });
      await waitForEvent(scene, 'drawing', 'PodNetworkUpdateFailed', /ip_pool: there is no IPPool drawn/);
      await scene.stack.cluster.apply(poolOf('drawn', '10.31.0.220..10.31.0.229'));
      expect(await addressOf('drawing', 'lan')).to.equal('10.31.0.220');
      await makePod(scene, 'drawing-too', 'lan', { [lan('ip_pool')]: 'drawn' });
      expect(await addressOf('drawing-too', 'lan')).to.equal('10.31.0.221');
    });

    it('an Event names the possible Subnets of a Pod whose IPPool belongs to another Subnet', async () => {
      await makePod(scene, 'astray', 'dual', { [dual('ip_pool')]: 'drawn' });
      await waitForEvent(
        scene,
        'astray',
        'PodNetworkUpdateFailed',
        /IPPool drawn is of Subnet lan, and provider dual\.default is served from dual: name an IPPool of one of those/,
      );
    });
  });

  it('the address of a Vip goes to a Pod that names the Vip, and to no other Pod', async () => {
    await makePod(scene, 'of-vip', 'lan', { 'ovn.kubernetes.io/vip': 'web' });
    await waitForEvent(scene, 'of-vip', 'PodNetworkUpdateFailed', /ovn\.kubernetes\.io\/vip: there is no Vip web/);
    const client = connect(scene.stack.allocator.endpoint, undefined);
    try {
      const request = { subnet: 'lan', addresses: ['10.31.0.240'], reservedFor: 'vip/web', reason: 'Vip web' };
      await call(client, IpamService.reserve, request, { timeoutMs: 20_000 });
    } finally {
      client.close();
    }
    expect(await addressOf('of-vip', 'lan')).to.equal('10.31.0.240');
    await makePod(scene, 'robber', 'lan', { [lan('ip_address')]: '10.31.0.240' });
    await waitForEvent(scene, 'robber', 'AcquireAddressFailed', /10\.31\.0\.240/);
  });

  describe('for an address of the primary network', () => {
    it('a Pod gets an address of the primary network’s Subnet that it names, beside its other NICs', async () => {
      await makeSubnet(scene, 'primary', { cidrBlock: '10.34.0.0/24', provider: 'ovn' });
      const annotations = {
        'ovn.kubernetes.io/logical_switch': 'primary',
        'ovn.kubernetes.io/ip_address': '10.34.0.9',
      };
      await makePod(scene, 'primary', 'lan', annotations);
      expect(await waitForAnnotations(scene, 'primary', 'ovn')).to.include({
        ip_address: '10.34.0.9',
        logical_switch: 'primary',
      });
      await addressOf('primary', 'lan');
    });

    /** Expects that a Pod in a new namespace gets this address. */
    async function expectAddressIn(namespace: string, address: string, annotations: object = {}): Promise<void> {
      const { cluster } = scene.stack;
      const metadata = { name: namespace, annotations };
      await cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata }));
      const spec = { containers: [{ name: 'box', image: 'box' }] };
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: `of-${namespace}`, namespace }, spec };
      await eventually(() => cluster.apply(JSON.stringify(pod)));
      await eventually(async () => {
        const found = await scene.kubernetes.list('Pod', `fieldSelector=metadata.name=of-${namespace}`);
        expect(providerAnnotations(found[0]?.metadata.annotations ?? {}, 'ovn')['ip_address']).to.equal(address);
      });
    }

    it('a Pod gets an address of the primary network’s Subnet that its namespace names', () =>
      expectAddressIn('served', '10.34.0.2', { 'ovn.kubernetes.io/logical_switch': 'nowhere,primary' }));

    it('a Pod gets an address of the Subnet that names its namespace, and the namespace is annotated', async () => {
      const spec = { cidrBlock: '10.36.0.0/24', provider: 'ovn', namespaces: ['named'] };
      await scene.kubernetes.create({ kind: 'Subnet', metadata: { name: 'naming' }, spec });
      await expectAddressIn('named', '10.36.0.2');
      const annotations = (await scene.kubernetes.list('Namespace', 'fieldSelector=metadata.name=named'))[0]?.metadata
        .annotations;
      expect(annotations).to.include({
        'ovn.kubernetes.io/logical_switch': 'naming',
        'ovn.kubernetes.io/cidr': '10.36.0.0/24',
        'ovn.kubernetes.io/exclude_ips': '10.36.0.1',
      });
    });
  });

  describe('that change while the Pod runs', () => {
    const edit = (pod: string, networks: string) =>
      scene.kubernetes.patch('Pod', pod, { metadata: { annotations: { [networksAnnotation]: networks } } });

    it('a running Pod that requests another NIC gets an address for it, and keeps the others', async () => {
      await makePod(scene, 'growing', 'lan');
      const first = await addressOf('growing', 'lan');
      await edit('growing', 'lan,dual');
      await addressOf('growing', 'dual');
      expect(await addressOf('growing', 'lan')).to.equal(first);
    });

    it('an Event reports another NIC of a running Pod that cannot be served, and the Pod keeps the others', async () => {
      await edit('growing', 'lan,dual,nowhere');
      await waitForEvent(scene, 'growing', 'PodNetworkUpdateFailed', /no NetworkAttachmentDefinition default\/nowhere/);
      await edit('growing', 'lan,dual');
    });

    itOnMacvlan('a running Pod that removes a NIC releases its address after the DEL of its container', async () => {
      await makePod(scene, 'shrinking', 'lan@net1,dual@net2');
      const [kept, removed] = [await addressOf('shrinking', 'lan'), await addressOf('shrinking', 'dual')];
      const [address = ''] = removed?.split(',') ?? [];
      const sandbox = await attachPod(scene, { pod: 'shrinking', network: 'dual', ifName: 'net2' });
      await edit('shrinking', 'lan@net1');
      await expectStays(() => readAddressRecord(scene, 'dual', address).then((record) => record?.state), 'bound');
      await detachPod(scene, { pod: 'shrinking', network: 'dual', ifName: 'net2', sandbox });
      await eventually(async () =>
        expect((await readAddressRecord(scene, 'dual', address))?.state).to.equal('cooldown'),
      );
      expect(await addressOf('shrinking', 'lan')).to.equal(kept);
    });
  });

  /** Expects a value now, and again after the watcher has served another Pod. */
  async function expectStays<T>(read: () => Promise<T>, expected: T): Promise<void> {
    expect(await read()).to.equal(expected);
    await makePod(scene, `after-${Date.now()}`, 'lan');
    await eventually(async () => expect(await read()).to.equal(expected));
  }
});
