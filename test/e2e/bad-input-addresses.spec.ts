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

const keyOf = (suffix: string): string => `lan.default.kubernetes.io/${suffix}`;
const [ip, mac, pool, routes] = [keyOf('ip_address'), keyOf('mac_address'), keyOf('ip_pool'), keyOf('routes')];
/** What is asked of the network beside its name. */
const beside = (parts: object): Record<string, string> => ({
  [networksAnnotation]: JSON.stringify([{ name: 'lan', ...parts }]),
});
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
    says: /10\.2\.0\.300 is not a valid lan\.default\.kubernetes\.io\/ip_address: failed to parse IP 10\.2\.0\.300/,
  },
  {
    what: 'an ip_address with a prefix length',
    annotations: { [ip]: '10.2.0.9/24' },
    says: /failed to parse IP 10\.2\.0\.9\/24: lan\.default\.kubernetes\.io\/ip_address takes addresses without a prefix/,
  },
  {
    what: 'an ip_pool with an element that is no address',
    annotations: { [pool]: '10.2.0.9, 10.2.0.x' },
    says: /10\.2\.0\.x in lan\.default\.kubernetes\.io\/ip_pool is not a valid address/,
  },
  {
    what: 'an ip_pool with an empty element',
    annotations: { [pool]: '10.2.0.9;' },
    says: /an empty element in lan\.default\.kubernetes\.io\/ip_pool is not a valid address/,
  },
  {
    what: 'an ip_pool with two addresses of a family as a pair',
    annotations: { [pool]: '10.2.0.8,10.2.0.9;10.2.0.10' },
    says: /multiple IPv4 addresses in "10\.2\.0\.8,10\.2\.0\.9": an entry of lan\.default\.kubernetes\.io\/ip_pool takes one of/,
  },
  {
    what: 'an ip_pool that is empty',
    annotations: { [pool]: ' ' },
    says: /annotation lan\.default\.kubernetes\.io\/ip_pool is empty: name addresses, or remove it/,
  },
  {
    what: 'two addresses of one family',
    annotations: { [ip]: '10.2.0.8,10.2.0.9' },
    says: /multiple IPv4 addresses in ip_address annotation "10\.2\.0\.8,10\.2\.0\.9"/,
  },
  {
    what: 'an address outside the CIDR beside it',
    annotations: { [ip]: '10.2.0.9', [keyOf('cidr')]: '10.16.0.0/16' },
    says: /10\.2\.0\.9 not in cidr 10\.16\.0\.0\/16/,
  },
  {
    what: 'a CIDR that is none',
    annotations: { [keyOf('cidr')]: '10.16.0.0/1600' },
    says: /invalid cidr 10\.16\.0\.0\/1600/,
  },
  {
    what: 'an ip_family in capitals',
    annotations: { [keyOf('ip_family')]: 'IPv4' },
    says: /IPv4 is not a valid lan\.default\.kubernetes\.io\/ip_family: want ipv4 or ipv6/,
  },
  {
    what: 'an address of another family than asked for',
    annotations: { [keyOf('ip_family')]: 'ipv4', [ip]: 'fd00::15' },
    says: /fd00::15 does not match lan\.default\.kubernetes\.io\/ip_family ipv4/,
  },
  {
    what: 'a bandwidth that is no number',
    annotations: { [keyOf('ingress_rate')]: 'fast' },
    says: /fast is not a valid lan\.default\.kubernetes\.io\/ingress_rate: want a number/,
  },
  {
    what: 'a default_route that is neither true nor false',
    annotations: { [keyOf('default_route')]: 'yes' },
    says: /yes is not a valid lan\.default\.kubernetes\.io\/default_route: want true or false/,
  },
  {
    what: 'an interface’s address that is none',
    annotations: { [networksAnnotation]: 'lan@net1', [keyOf('ip_address.net1')]: '10.2.0' },
    says: /10\.2\.0 is not a valid lan\.default\.kubernetes\.io\/ip_address\.net1/,
  },
  {
    what: 'an interface’s MAC that is none',
    annotations: { [networksAnnotation]: 'lan@net1', [keyOf('mac_address.net1')]: '02:00' },
    says: /02:00 is not a valid lan\.default\.kubernetes\.io\/mac_address\.net1/,
  },
  {
    what: 'an address beside the network’s name that is none',
    annotations: beside({ ips: ['10.2.0.9/33'] }),
    says: /10\.2\.0\.9\/33 is not a valid ips of network default\/lan/,
  },
  {
    what: 'a MAC beside the network’s name that is none',
    annotations: beside({ mac: '02' }),
    says: /02 is not a valid mac of network default\/lan/,
  },
  {
    what: 'a gateway beside the network’s name that is no address',
    annotations: beside({ 'default-route': ['10.2.0.0/24'] }),
    says: /default-route "10\.2\.0\.0\/24" of lan is not an address/,
  },
  {
    what: 'an interface that two NICs shall have',
    annotations: { [networksAnnotation]: 'lan@net1,lan@net1' },
    says: /interface net1 is asked for twice: give each NIC a name of its own/,
  },
  {
    what: 'a networks annotation with too many slashes',
    annotations: { [networksAnnotation]: 'a/b/lan' },
    says: /Invalid network object \(failed at '\/'\) in "a\/b\/lan"/,
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
  this.timeout(120_000);
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
