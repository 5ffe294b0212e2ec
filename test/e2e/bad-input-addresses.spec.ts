/** Who asks for addresses that cannot be given, or asks wrongly, is told why by a Kubernetes Event, and holds nothing. */
import { expect } from 'chai';
import { expectAgreement } from './agreement.ts';
import {
  addressOf,
  eventOf,
  makeNetworkAndSubnet,
  makePod,
  networksAnnotation,
  openScene,
  type Scene,
} from './scene.ts';

const [ip, mac, pool, routes] = ['ip_address', 'mac_address', 'ip_pool', 'routes'].map(
  (suffix) => `lan.default.kubernetes.io/${suffix}`,
) as [string, string, string, string];
const heldMac = '02:00:00:00:00:0A';

interface Case {
  readonly what: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly says: RegExp;
}

/** The Pod's own annotations are wrong: nobody else is asked. */
const malformed: readonly Case[] = [
  {
    what: 'a networks annotation that is no name',
    annotations: { [networksAnnotation]: 'lan@net1@net2' },
    says: /annotation k8s\.v1\.cni\.cncf\.io\/networks: Invalid network object \(failed at '@'\) in "lan@net1@net2"/,
  },
  {
    what: 'a networks annotation that is no JSON',
    annotations: { [networksAnnotation]: '[{"name": "lan"' },
    says: /annotation k8s\.v1\.cni\.cncf\.io\/networks: no valid JSON: /,
  },
  {
    what: 'an ip_address that is none',
    annotations: { [ip]: '10.2.0.300' },
    says: /lan\.default\.kubernetes\.io\/ip_address: failed to parse IP 10\.2\.0\.300/,
  },
  {
    what: 'an ip_address with a prefix length',
    annotations: { [ip]: '10.2.0.9/24' },
    says: /lan\.default\.kubernetes\.io\/ip_address: failed to parse IP 10\.2\.0\.9\/24/,
  },
  {
    what: 'an ip_pool with an element that is no address',
    annotations: { [pool]: '10.2.0.9, 10.2.0.x' },
    says: /10\.2\.0\.x in lan\.default\.kubernetes\.io\/ip_pool is not a valid address/,
  },
  {
    what: 'an ip_pool by name',
    annotations: { [pool]: 'web' },
    says: /ip_pool names IPPool web: IPPools are not served yet; list the addresses instead/,
  },
  {
    what: 'routes that are no JSON',
    annotations: { [routes]: '10.9.0.0/16 via 10.2.0.1' },
    says: /invalid routes for pod default\/.*: lan\.default\.kubernetes\.io\/routes: /,
  },
  {
    what: 'a route to what is no CIDR',
    annotations: { [routes]: '[{"dst": "10.9.0.0", "gw": "10.2.0.1"}]' },
    says: /routes: dst "10\.9\.0\.0" of route 0 is not a CIDR/,
  },
  {
    what: 'a mac_address that is none',
    annotations: { [mac]: '02:00:00:00:0A' },
    says: /02:00:00:00:0A is not a valid lan\.default\.kubernetes\.io\/mac_address/,
  },
];

/** The allocator says no. */
const refused: readonly Case[] = [
  {
    what: 'an address outside the subnet',
    annotations: { [ip]: '10.9.0.9' },
    says: /AddressOutOfRange: 10\.9\.0\.9 is not a host address of subnet lan \(10\.2\.0\.0\/24\); correct the annotations/,
  },
  {
    what: 'the subnet’s broadcast address',
    annotations: { [ip]: '10.2.0.255' },
    says: /AddressOutOfRange: 10\.2\.0\.255 is not a host address of subnet lan/,
  },
  {
    what: 'the gateway’s address',
    annotations: { [ip]: '10.2.0.1' },
    says: /AddressConflict: 10\.2\.0\.1 is the gateway of subnet lan/,
  },
  {
    what: 'an address that is taken',
    annotations: { [ip]: '10.2.0.10' },
    says: /10\.2\.0\.10 of subnet lan is in use by Pod default\/holder \(uid [0-9a-f-]{36}, lan\.default\) since .*; the Pod waits/,
  },
  {
    what: 'a MAC that is taken',
    annotations: { [mac]: heldMac },
    says: /MAC 02:00:00:00:00:0a is in use in subnet lan by Pod default\/holder \(lan\.default\); the Pod waits/,
  },
  {
    what: 'a MAC of many',
    annotations: { [mac]: '03:00:00:00:00:0A' },
    says: /03:00:00:00:00:0A is not a valid unicast MAC address/,
  },
  {
    what: 'the same address twice',
    annotations: { [networksAnnotation]: '[{"name":"lan","ips":["10.2.0.20"]},{"name":"lan","ips":["10.2.0.20/24"]}]' },
    says: /10\.2\.0\.20 is asked for twice in subnet lan by the same Pod/,
  },
  {
    what: 'an ip_pool of which all are taken',
    annotations: { [pool]: '10.2.0.10,10.2.0.11' },
    says: /none of the addresses asked for can be given: .*10\.2\.0\.10 .*default\/holder .*; .*10\.2\.0\.11 .*default\/other/,
  },
  {
    what: 'any address of a subnet that is full',
    annotations: { [networksAnnotation]: 'small' },
    says: /NoAvailableAddress: subnet small \(10\.2\.1\.0\/30\) has no free address: IPv4: 1 of 1 addresses in use.*; the Pod waits until one is free/,
  },
];

describe('bad input: addresses', function () {
  this.timeout(60_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    await Promise.all([
      makeNetworkAndSubnet(scene, 'lan', '10.2.0.0/24'),
      makeNetworkAndSubnet(scene, 'small', '10.2.1.0/30'),
    ]);
    await makePod(scene, 'holder', 'lan', { [ip]: '10.2.0.10', [mac]: heldMac });
    await makePod(scene, 'other', 'lan', { [ip]: '10.2.0.11' });
    await makePod(scene, 'first', 'small');
    await Promise.all([addressOf(scene, 'holder', 'lan'), addressOf(scene, 'other', 'lan')]);
    await addressOf(scene, 'first', 'small');
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  async function expectRefusal(pod: string, { annotations, says }: Case, reason: string): Promise<void> {
    await makePod(scene, pod, 'lan', annotations);
    await eventOf(scene, pod, reason, says);
    const { metadata } = await scene.kubernetes.get('Pod', pod);
    expect(Object.keys(metadata.annotations ?? {}).filter((key) => key.endsWith('/allocated'))).to.deep.equal([]);
  }

  for (const [index, one] of malformed.entries())
    it(`${one.what}: an Event says what is wrong`, () =>
      expectRefusal(`malformed-${index}`, one, 'ValidatePodNetworkFailed'));

  for (const [index, one] of refused.entries())
    it(`${one.what}: an Event says why it can't be given`, () =>
      expectRefusal(`refused-${index}`, one, 'AcquireAddressFailed'));

  it('who waited for a taken address gets it when its holder goes', async () => {
    await makePod(scene, 'leaving', 'lan', { [ip]: '10.2.0.12' });
    await addressOf(scene, 'leaving', 'lan');
    await makePod(scene, 'heir', 'lan', { [ip]: '10.2.0.12' });
    await eventOf(scene, 'heir', 'AcquireAddressFailed', /default\/leaving/);
    await scene.kubernetes.remove('Pod', 'leaving');
    expect(await addressOf(scene, 'heir', 'lan')).to.equal('10.2.0.12');
    await eventOf(scene, 'heir', 'PodNetworkAllocated', /subnet=lan ip=10\.2\.0\.12 mac= provider=lan\.default/);
  });

  it('who asked wrongly gets what it asks for when it is corrected', async () => {
    await scene.kubernetes.patch('Pod', 'malformed-2', { metadata: { annotations: { [ip]: '10.2.0.30' } } });
    expect(await addressOf(scene, 'malformed-2', 'lan')).to.equal('10.2.0.30');
  });
});
