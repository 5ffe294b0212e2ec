/** What a Pod may ask for: addresses, families, pools, Vips, several NICs of one network; and its mind may change while it lives. */
import { expect } from 'chai';
import { call, connect } from '../../lib/rpc.ts';
import { IpamService } from '../../proto/ipledger.ts';
import { expectAgreement } from './agreement.ts';
import { recordOf } from './attached.ts';
import { eventually } from './eventually.ts';
import { attached, detached, shownBy, shownOf } from './manifests.ts';
import { itOnMacvlan, linkOf } from './sandbox.ts';
import {
  eventOf,
  makeNetworkAndSubnet,
  makePod,
  makeSubnet,
  networksAnnotation,
  openScene,
  type Scene,
} from './scene.ts';

const lan = (suffix: string): string => `lan.default.kubernetes.io/${suffix}`;
const dual = (suffix: string): string => `dual.default.kubernetes.io/${suffix}`;

describe('what a Pod may ask for', function () {
  this.timeout(120_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    await Promise.all([
      makeNetworkAndSubnet(scene, 'lan', '10.31.0.0/24'),
      makeNetworkAndSubnet(scene, 'dual', '10.32.0.0/24,fd00:32::/64'),
      makeNetworkAndSubnet(scene, 'six', 'fd00:33::/64'),
    ]);
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  const addressOf = async (pod: string, network: string): Promise<string | undefined> =>
    (await shownOf(scene, pod, `${network}.default`))['ip_address'];

  describe('of one network more than once', () => {
    itOnMacvlan('KO-4045 each NIC has an address and a MAC of its own, beside the network’s name', async () => {
      const networks = JSON.stringify([
        { name: 'lan', interface: 'net1', ips: ['10.31.0.101/24'], mac: '02:00:00:00:31:01' },
        { name: 'lan', interface: 'net2', ips: ['10.31.0.102'], mac: '02:00:00:00:31:02' },
      ]);
      await makePod(scene, 'two', networks);
      await addressOf('two', 'lan');
      const sandbox = await attached(scene, { pod: 'two', network: 'lan', ifName: 'net1' });
      await attached(scene, { pod: 'two', network: 'lan', ifName: 'net2', sandbox });
      expect(await linkOf(sandbox, 'net1')).to.deep.equal({ mac: '02:00:00:00:31:01', addresses: ['10.31.0.101/24'] });
      expect(await linkOf(sandbox, 'net2')).to.deep.equal({ mac: '02:00:00:00:31:02', addresses: ['10.31.0.102/24'] });
    });

    itOnMacvlan('KO-5848 or by the keys of its interface, also when the second is made first', async () => {
      await makePod(scene, 'keyed', 'lan@net1,lan@net2', {
        [lan('ip_address.net1')]: '10.31.0.111',
        [lan('mac_address.net1')]: '02:00:00:00:31:11',
        [lan('ip_address.net2')]: '10.31.0.112',
      });
      await addressOf('keyed', 'lan');
      const sandbox = await attached(scene, { pod: 'keyed', network: 'lan', ifName: 'net2' });
      await attached(scene, { pod: 'keyed', network: 'lan', ifName: 'net1', sandbox });
      expect((await linkOf(sandbox, 'net2')).addresses).to.deep.equal(['10.31.0.112/24']);
      expect(await linkOf(sandbox, 'net1')).to.deep.equal({ mac: '02:00:00:00:31:11', addresses: ['10.31.0.111/24'] });
    });
  });

  it('what stands beside the name goes before the interface’s key, that before ip_address, that before ip_pool', async () => {
    const pool = { [lan('ip_pool')]: '10.31.0.121' };
    const plain = { ...pool, [lan('ip_address')]: '10.31.0.122' };
    const all = { ...plain, [lan('ip_address.net1')]: '10.31.0.123' };
    const beside = '[{"name":"lan","interface":"net1","ips":["10.31.0.124/24"]}]';
    const got: (string | undefined)[] = [];
    for (const [pod, networks, annotations] of [
      ['beside', beside, all],
      ['interface', 'lan@net1', all],
      ['plain', 'lan', plain],
      ['pool', 'lan', pool],
    ] as const) {
      await makePod(scene, `first-${pod}`, networks, annotations);
      got.push(await addressOf(`first-${pod}`, 'lan'));
    }
    expect(got).to.deep.equal(['10.31.0.124', '10.31.0.123', '10.31.0.122', '10.31.0.121']);
  });

  it('a MAC alone', async () => {
    await makePod(scene, 'mac', 'lan', { [lan('mac_address')]: '02:00:00:00:31:21' });
    expect(await shownOf(scene, 'mac', 'lan.default')).to.include({ mac_address: '02:00:00:00:31:21' });
  });

  describe('of both families', () => {
    it('one of each', async () => {
      await makePod(scene, 'both', 'dual', { [dual('ip_address')]: 'fd00:32::99,10.32.0.99' });
      expect(await shownOf(scene, 'both', 'dual.default')).to.include({
        ip_address: '10.32.0.99,fd00:32::99',
        cidr: '10.32.0.0/24,fd00:32::/64',
        gateway: '10.32.0.1,fd00:32::1',
      });
    });

    it('one by name, and any of the other', async () => {
      await makePod(scene, 'half', 'dual', { [dual('ip_address')]: 'fd00:32::98' });
      expect(await addressOf('half', 'dual')).to.match(/^10\.32\.0\.\d+,fd00:32::98$/);
    });

    it('pairs of a list', async () => {
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
      it(`only ${family}, shown, answered and on the link`, async () => {
        await makePod(scene, `only-${family}`, 'dual', { [dual('ip_family')]: family });
        const shown = await shownOf(scene, `only-${family}`, 'dual.default');
        expect(shown['ip_address']).to.match(address);
        expect(shown['cidr']).to.not.contain(',');
      });

    it('a family that the Subnet does not have: an Event says so', async () => {
      await makePod(scene, 'six-of-four', 'lan', { [lan('ip_family')]: 'ipv6' });
      await eventOf(
        scene,
        'six-of-four',
        'AcquireAddressFailed',
        /requested ip family IPv6 does not match subnet lan protocol IPv4/,
      );
    });
  });

  itOnMacvlan('IPv6 alone', async () => {
    await makePod(scene, 'six', 'six');
    expect(await addressOf('six', 'six')).to.equal('fd00:33::2');
    const sandbox = await attached(scene, { pod: 'six', network: 'six' });
    expect((await linkOf(sandbox)).addresses).to.deep.equal(['fd00:33::2/64']);
  });

  describe('from an IPPool', () => {
    const poolOf = (name: string, ips: string, more = ''): string =>
      `{"apiVersion":"kubeovn.io/v1","kind":"IPPool","metadata":{"name":"${name}"},"spec":{"subnet":"lan","ips":["${ips}"]${more}}}`;

    it('by its name; one that is not there is waited for', async () => {
      await makePod(scene, 'drawing', 'lan', { [lan('ip_pool')]: 'drawn' });
      await eventOf(scene, 'drawing', 'PodNetworkUpdateFailed', /ip_pool: there is no IPPool drawn/);
      await scene.stack.cluster.apply(poolOf('drawn', '10.31.0.220..10.31.0.229'));
      expect(await addressOf('drawing', 'lan')).to.equal('10.31.0.220');
      await makePod(scene, 'drawing-too', 'lan', { [lan('ip_pool')]: 'drawn' });
      expect(await addressOf('drawing-too', 'lan')).to.equal('10.31.0.221');
    });

    it('of another Subnet: an Event says which would do', async () => {
      await makePod(scene, 'astray', 'dual', { [dual('ip_pool')]: 'drawn' });
      await eventOf(
        scene,
        'astray',
        'PodNetworkUpdateFailed',
        /IPPool drawn is of Subnet lan, and provider dual\.default is served from dual: name a pool of that/,
      );
    });
  });

  it('the address that is reserved for a Vip, which nobody else is given', async () => {
    await makePod(scene, 'of-vip', 'lan', { 'ovn.kubernetes.io/vip': 'web' });
    await eventOf(scene, 'of-vip', 'PodNetworkUpdateFailed', /ovn\.kubernetes\.io\/vip: there is no Vip web/);
    const client = connect(scene.stack.allocator.endpoint, undefined);
    try {
      const request = { subnet: 'lan', addresses: ['10.31.0.240'], reservedFor: 'vip/web', reason: 'Vip web' };
      await call(client, IpamService.reserve, request, { timeoutMs: 20_000 });
    } finally {
      client.close();
    }
    expect(await addressOf('of-vip', 'lan')).to.equal('10.31.0.240');
    await makePod(scene, 'robber', 'lan', { [lan('ip_address')]: '10.31.0.240' });
    await eventOf(scene, 'robber', 'AcquireAddressFailed', /10\.31\.0\.240/);
  });

  describe('of the primary network', () => {
    it('a Pod that names its Subnet has an address of it, beside its other NICs', async () => {
      await makeSubnet(scene, 'primary', { cidrBlock: '10.34.0.0/24', provider: 'ovn' });
      const asked = { 'ovn.kubernetes.io/logical_switch': 'primary', 'ovn.kubernetes.io/ip_address': '10.34.0.9' };
      await makePod(scene, 'primary', 'lan', asked);
      expect(await shownOf(scene, 'primary', 'ovn')).to.include({ ip_address: '10.34.0.9', logical_switch: 'primary' });
      await addressOf('primary', 'lan');
    });

    /** The address that a Pod of a namespace of its own is given. */
    async function citizenOf(namespace: string, address: string, annotations: object = {}): Promise<void> {
      const { cluster } = scene.stack;
      const metadata = { name: namespace, annotations };
      await cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata }));
      const spec = { containers: [{ name: 'box', image: 'box' }] };
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: `of-${namespace}`, namespace }, spec };
      await eventually(() => cluster.apply(JSON.stringify(pod)));
      await eventually(async () => {
        const found = await scene.kubernetes.list('Pod', `fieldSelector=metadata.name=of-${namespace}`);
        expect(shownBy(found[0]?.metadata.annotations ?? {}, 'ovn')['ip_address']).to.equal(address);
      });
    }

    it('so has a Pod of a namespace that does', () =>
      citizenOf('served', '10.34.0.2', { 'ovn.kubernetes.io/logical_switch': 'nowhere,primary' }));

    it('and one of a namespace that a Subnet names, which says so then', async () => {
      const spec = { cidrBlock: '10.36.0.0/24', provider: 'ovn', namespaces: ['named'] };
      await scene.kubernetes.create({ kind: 'Subnet', metadata: { name: 'naming' }, spec });
      await citizenOf('named', '10.36.0.2');
      const annotations = (await scene.kubernetes.list('Namespace', 'fieldSelector=metadata.name=named'))[0]?.metadata
        .annotations;
      expect(annotations).to.include({
        'ovn.kubernetes.io/logical_switch': 'naming',
        'ovn.kubernetes.io/cidr': '10.36.0.0/24',
        'ovn.kubernetes.io/exclude_ips': '10.36.0.1',
      });
    });
  });

  describe('while it lives', () => {
    const edit = (pod: string, networks: string) =>
      scene.kubernetes.patch('Pod', pod, { metadata: { annotations: { [networksAnnotation]: networks } } });

    it('another NIC: it gets its address, and what it has stays', async () => {
      await makePod(scene, 'growing', 'lan');
      const first = await addressOf('growing', 'lan');
      await edit('growing', 'lan,dual');
      await addressOf('growing', 'dual');
      expect(await addressOf('growing', 'lan')).to.equal(first);
    });

    it('another NIC that cannot be: it is told why, and what it has stays', async () => {
      await edit('growing', 'lan,dual,nowhere');
      await eventOf(scene, 'growing', 'PodNetworkUpdateFailed', /no NetworkAttachmentDefinition default\/nowhere/);
      await edit('growing', 'lan,dual');
    });

    itOnMacvlan('one NIC less: its address is given back once no container answers on it', async () => {
      await makePod(scene, 'shrinking', 'lan@net1,dual@net2');
      const [kept, left] = [await addressOf('shrinking', 'lan'), await addressOf('shrinking', 'dual')];
      const [address = ''] = left?.split(',') ?? [];
      const sandbox = await attached(scene, { pod: 'shrinking', network: 'dual', ifName: 'net2' });
      await edit('shrinking', 'lan@net1');
      await expectStays(() => recordOf(scene, 'dual', address).then((record) => record?.state), 'bound');
      await detached(scene, { pod: 'shrinking', network: 'dual', ifName: 'net2', sandbox });
      await eventually(async () => expect((await recordOf(scene, 'dual', address))?.state).to.equal('cooling'));
      expect(await addressOf('shrinking', 'lan')).to.equal(kept);
    });
  });

  /** It is so, and still is after whatever was about to happen has happened: another Pod has been dealt with meanwhile. */
  async function expectStays<T>(look: () => Promise<T>, wanted: T): Promise<void> {
    expect(await look()).to.equal(wanted);
    await makePod(scene, `after-${Date.now()}`, 'lan');
    await eventually(async () => expect(await look()).to.equal(wanted));
  }
});
