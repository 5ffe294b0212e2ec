/**
 * Tests Pods with an invalid request, or a request that is refused: a Kubernetes Event gives the
 * reason, and the Pod gets no address.
 */
import { expect } from 'chai';
import { expectConsistency } from '../support/consistency.ts';
import {
  waitForAddress,
  waitForEvent,
  makeNetworkAndSubnet,
  makePod,
  networksAnnotation,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

const keyOf = (suffix: string): string => `lan.default.kubernetes.io/${suffix}`;
const [ip, mac, pool, routes] = [keyOf('ip_address'), keyOf('mac_address'), keyOf('ip_pool'), keyOf('routes')];
/** Makes a networks annotation whose element has these keys beside the name. */
const elementWith = (parts: object): Record<string, string> => ({
  [networksAnnotation]: JSON.stringify([{ name: 'lan', ...parts }]),
});
const heldMac = '02:00:00:00:00:0A';

interface Case {
  readonly input: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly expected: RegExp;
}

/** Pods with invalid annotations. The watcher rejects them without a request to the allocator. */
const malformed: readonly Case[] = [
  {
    input: 'a networks annotation that is not a name',
    annotations: { [networksAnnotation]: 'lan@net1@net2' },
    expected:
      /annotation k8s\.v1\.cni\.cncf\.io\/networks: Invalid network object \(failed at '@'\) in "lan@net1@net2"/,
  },
  {
    input: 'a networks annotation that is not JSON',
    annotations: { [networksAnnotation]: '[{"name": "lan"' },
    expected: /annotation k8s\.v1\.cni\.cncf\.io\/networks: not valid JSON: /,
  },
  {
    input: 'an ip_address that is not an address',
    annotations: { [ip]: '10.2.0.300' },
    expected: /10\.2\.0\.300 is not a valid lan\.default\.kubernetes\.io\/ip_address: failed to parse IP 10\.2\.0\.300/,
  },
  {
    input: 'an ip_address with a prefix length',
    annotations: { [ip]: '10.2.0.9/24' },
    expected:
      /failed to parse IP 10\.2\.0\.9\/24: lan\.default\.kubernetes\.io\/ip_address takes addresses without a prefix/,
  },
  {
    input: 'an ip_pool with an element that is not an address',
    annotations: { [pool]: '10.2.0.9, 10.2.0.x' },
    expected: /10\.2\.0\.x in lan\.default\.kubernetes\.io\/ip_pool is not a valid address/,
  },
  {
    input: 'an ip_pool with an empty element',
    annotations: { [pool]: '10.2.0.9;' },
    expected: /an empty element in lan\.default\.kubernetes\.io\/ip_pool is not a valid address/,
  },
  {
    input: 'an ip_pool with two addresses of a family as a pair',
    annotations: { [pool]: '10.2.0.8,10.2.0.9;10.2.0.10' },
    expected:
      /multiple IPv4 addresses in "10\.2\.0\.8,10\.2\.0\.9": an entry of lan\.default\.kubernetes\.io\/ip_pool takes one of/,
  },
  {
    input: 'an empty ip_pool',
    annotations: { [pool]: ' ' },
    expected: /annotation lan\.default\.kubernetes\.io\/ip_pool is empty: name addresses or an IPPool, or remove it/,
  },
  {
    input: 'two addresses of one family',
    annotations: { [ip]: '10.2.0.8,10.2.0.9' },
    expected: /multiple IPv4 addresses in ip_address annotation "10\.2\.0\.8,10\.2\.0\.9"/,
  },
  {
    input: 'an address outside the annotated CIDR',
    annotations: { [ip]: '10.2.0.9', [keyOf('cidr')]: '10.16.0.0/16' },
    expected: /10\.2\.0\.9 not in cidr 10\.16\.0\.0\/16/,
  },
  {
    input: 'an annotated CIDR that is not valid',
    annotations: { [keyOf('cidr')]: '10.16.0.0/1600' },
    expected: /invalid cidr 10\.16\.0\.0\/1600/,
  },
  {
    input: 'an ip_family in capitals',
    annotations: { [keyOf('ip_family')]: 'IPv4' },
    expected: /IPv4 is not a valid lan\.default\.kubernetes\.io\/ip_family: must be ipv4 or ipv6/,
  },
  {
    input: 'an address of another family than ip_family',
    annotations: { [keyOf('ip_family')]: 'ipv4', [ip]: 'fd00::15' },
    expected: /fd00::15 does not match lan\.default\.kubernetes\.io\/ip_family ipv4/,
  },
  {
    input: 'a bandwidth that is not a number',
    annotations: { [keyOf('ingress_rate')]: 'fast' },
    expected: /fast is not a valid lan\.default\.kubernetes\.io\/ingress_rate: must be a number/,
  },
  {
    input: 'a default_route that is neither true nor false',
    annotations: { [keyOf('default_route')]: 'yes' },
    expected: /yes is not a valid lan\.default\.kubernetes\.io\/default_route: must be true or false/,
  },
  {
    input: 'an ip_address of an interface that is not an address',
    annotations: { [networksAnnotation]: 'lan@net1', [keyOf('ip_address.net1')]: '10.2.0' },
    expected: /10\.2\.0 is not a valid lan\.default\.kubernetes\.io\/ip_address\.net1/,
  },
  {
    input: 'a mac_address of an interface that is not a MAC',
    annotations: { [networksAnnotation]: 'lan@net1', [keyOf('mac_address.net1')]: '02:00' },
    expected: /02:00 is not a valid lan\.default\.kubernetes\.io\/mac_address\.net1/,
  },
  {
    input: 'an ips element of a network that is not an address',
    annotations: elementWith({ ips: ['10.2.0.9/33'] }),
    expected: /10\.2\.0\.9\/33 is not a valid ips of network default\/lan/,
  },
  {
    input: 'a mac of a network that is not a MAC',
    annotations: elementWith({ mac: '02' }),
    expected: /02 is not a valid mac of network default\/lan/,
  },
  {
    input: 'a default-route of a network that is not an address',
    annotations: elementWith({ 'default-route': ['10.2.0.0/24'] }),
    expected: /default-route "10\.2\.0\.0\/24" of lan is not an address/,
  },
  {
    input: 'an interface name of two NICs',
    annotations: { [networksAnnotation]: 'lan@net1,lan@net1' },
    expected: /interface net1 is requested twice: give each NIC a name of its own/,
  },
  {
    input: 'a networks annotation with too many slashes',
    annotations: { [networksAnnotation]: 'a/b/lan' },
    expected: /Invalid network object \(failed at '\/'\) in "a\/b\/lan"/,
  },
  {
    input: 'routes that are not JSON',
    annotations: { [routes]: '10.9.0.0/16 via 10.2.0.1' },
    expected: /invalid routes for pod default\/.*: lan\.default\.kubernetes\.io\/routes: /,
  },
  {
    input: 'a route whose destination is not a CIDR',
    annotations: { [routes]: '[{"dst": "10.9.0.0", "gw": "10.2.0.1"}]' },
    expected: /routes: dst "10\.9\.0\.0" of route 0 is not a CIDR/,
  },
  {
    input: 'a multicast MAC',
    annotations: { [mac]: '03:00:00:00:00:0A' },
    expected:
      /03:00:00:00:00:0A is not a valid lan\.default\.kubernetes\.io\/mac_address: write six octets of a unicast MAC/,
  },
  {
    input: 'a mac_address that is not a MAC',
    annotations: { [mac]: '02:00:00:00:0A' },
    expected: /02:00:00:00:0A is not a valid lan\.default\.kubernetes\.io\/mac_address/,
  },
];

/** Pods with valid requests that the allocator refuses. */
const refused: readonly Case[] = [
  {
    input: 'an address outside the subnet',
    annotations: { [ip]: '10.9.0.9' },
    expected:
      /AddressOutOfRange: 10\.9\.0\.9 is not a host address of subnet lan \(10\.2\.0\.0\/24\); correct the annotations/,
  },
  {
    input: 'the subnet’s broadcast address',
    annotations: { [ip]: '10.2.0.255' },
    expected: /AddressOutOfRange: 10\.2\.0\.255 is not a host address of subnet lan/,
  },
  {
    input: 'the address of the gateway',
    annotations: { [ip]: '10.2.0.1' },
    expected: /AddressConflict: 10\.2\.0\.1 is the gateway of subnet lan/,
  },
  {
    input: 'an address in use',
    annotations: { [ip]: '10.2.0.10' },
    expected:
      /10\.2\.0\.10 of subnet lan is in use by Pod default\/holder \(uid [0-9a-f-]{36}, lan\.default\) since .*; the Pod waits/,
  },
  {
    input: 'a MAC in use',
    annotations: { [mac]: heldMac },
    expected: /MAC 02:00:00:00:00:0a is in use in subnet lan by Pod default\/holder \(lan\.default\); the Pod waits/,
  },
  {
    input: 'the same address twice',
    annotations: { [networksAnnotation]: '[{"name":"lan","ips":["10.2.0.20"]},{"name":"lan","ips":["10.2.0.20/24"]}]' },
    expected: /10\.2\.0\.20 of subnet lan is requested twice by the same Pod/,
  },
  {
    input: 'an ip_pool with all its addresses in use',
    annotations: { [pool]: '10.2.0.10,10.2.0.11' },
    expected:
      /none of the requested addresses can be allocated: .*10\.2\.0\.10 .*default\/holder .*; .*10\.2\.0\.11 .*default\/other/,
  },
  {
    input: 'any address of a full subnet',
    annotations: { [networksAnnotation]: 'small' },
    expected:
      /NoAvailableAddress: subnet small \(10\.2\.1\.0\/30\) has no free address: IPv4: 1 of 1 addresses in use.*; the Pod waits until one is free/,
  },
];

describe('bad input: addresses', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await Promise.all([
      makeNetworkAndSubnet(scene, 'lan', '10.2.0.0/24'),
      makeNetworkAndSubnet(scene, 'small', '10.2.1.0/30'),
    ]);
    await makePod(scene, 'holder', 'lan', { [ip]: '10.2.0.10', [mac]: heldMac });
    await makePod(scene, 'other', 'lan', { [ip]: '10.2.0.11' });
    await makePod(scene, 'first', 'small');
    await Promise.all([waitForAddress(scene, 'holder', 'lan'), waitForAddress(scene, 'other', 'lan')]);
    await waitForAddress(scene, 'first', 'small');
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  async function expectRefusal(pod: string, { annotations, expected }: Case, reason: string): Promise<void> {
    await makePod(scene, pod, 'lan', annotations);
    await waitForEvent(scene, pod, reason, expected);
    const { metadata } = await scene.kubernetes.get('Pod', pod);
    expect(Object.keys(metadata.annotations ?? {}).filter((key) => key.endsWith('/allocated'))).to.deep.equal([]);
  }

  for (const [index, testCase] of malformed.entries())
    it(`an Event reports ${testCase.input}`, () =>
      expectRefusal(`malformed-${index}`, testCase, 'ValidatePodNetworkFailed'));

  for (const [index, testCase] of refused.entries())
    it(`an Event explains why ${testCase.input} is refused`, () =>
      expectRefusal(`refused-${index}`, testCase, 'AcquireAddressFailed'));

  it('a Pod that waits for an address in use gets it after its holder is deleted', async () => {
    await makePod(scene, 'leaving', 'lan', { [ip]: '10.2.0.12' });
    await waitForAddress(scene, 'leaving', 'lan');
    await makePod(scene, 'successor', 'lan', { [ip]: '10.2.0.12' });
    await waitForEvent(scene, 'successor', 'AcquireAddressFailed', /default\/leaving/);
    await scene.kubernetes.remove('Pod', 'leaving');
    expect(await waitForAddress(scene, 'successor', 'lan')).to.equal('10.2.0.12');
    await waitForEvent(
      scene,
      'successor',
      'PodNetworkAllocated',
      /subnet=lan ip=10\.2\.0\.12 mac= provider=lan\.default/,
    );
  });

  it('a Pod with an invalid annotation gets its address after the correction', async () => {
    await scene.kubernetes.patch('Pod', 'malformed-2', { metadata: { annotations: { [ip]: '10.2.0.30' } } });
    expect(await waitForAddress(scene, 'malformed-2', 'lan')).to.equal('10.2.0.30');
  });
});
