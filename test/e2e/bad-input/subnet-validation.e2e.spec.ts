/** Tests Kube-OVN's rules for a Subnet spec, which conditions report in Kube-OVN's words. */
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { openTestEnvironment, type TestEnvironment } from '../support/test-environment.ts';

interface Violation {
  readonly violation: string;
  readonly spec: object;
  readonly expected: string;
}

const lan = { cidrBlock: '10.60.0.0/24' };
const six = { cidrBlock: 'fd00:60::/64' };
const reserved = (cidrBlock: string, expected: string): Violation => ({
  violation: `the reserved range ${cidrBlock}`,
  spec: { cidrBlock },
  expected: `${cidrBlock} conflict with ${expected}`,
});

const violations: readonly Violation[] = [
  { violation: 'an empty CIDR', spec: { cidrBlock: '' }, expected: 'CIDRBlock: "" format error' },
  { violation: 'a CIDR that is not valid', spec: { cidrBlock: '10.60.0' }, expected: 'cidr 10.60.0 is invalid' },
  { violation: 'a zero CIDR', spec: { cidrBlock: '0.0.0.0/8' }, expected: 'invalid zero cidr "0.0.0.0/8"' },
  {
    violation: 'a broadcast CIDR',
    spec: { cidrBlock: '255.255.255.255/30' },
    expected: 'invalid broadcast cidr "255.255.255.255/30"',
  },
  reserved('127.0.1.0/24', 'v4 loopback cidr 127.0.0.1/8'),
  reserved('224.0.1.0/24', 'v4 multicast cidr 224.0.0.0/4'),
  reserved('169.254.1.0/24', 'v4 link local cidr 169.254.0.0/16'),
  reserved('::/120', 'v6 unspecified cidr ::/128'),
  reserved('ff02::/64', 'v6 multicast cidr ff00::/8'),
  reserved('fe80:1::/64', 'v6 link local cidr FE80::/10'),
  {
    violation: 'a CIDR of one address',
    spec: { cidrBlock: '10.60.0.1/32' },
    expected: 'is configured with /32 or /128 netmask',
  },
  {
    violation: 'a CIDR of one IPv6 address',
    spec: { cidrBlock: 'fd00:60::1/128' },
    expected: 'is configured with /32 or /128 netmask',
  },
  {
    violation: 'a gateway outside the CIDR',
    spec: { ...lan, gateway: '10.61.0.1' },
    expected: 'gateway 10.61.0.1 is not in cidr 10.60.0.0/24',
  },
  {
    violation: 'the network address as gateway',
    spec: { ...lan, gateway: '10.60.0.0' },
    expected: '10.60.0.0 is the network number ip in cidr 10.60.0.0/24',
  },
  {
    violation: 'the broadcast address as gateway',
    spec: { ...lan, gateway: '10.60.0.255' },
    expected: '10.60.0.255 is the broadcast ip in cidr 10.60.0.0/24',
  },
  {
    violation: 'a range of three addresses',
    spec: { ...lan, excludeIps: ['10.60.0.2..10.60.0.3..10.60.0.4'] },
    expected: '10.60.0.2..10.60.0.3..10.60.0.4 in excludeIps is not a valid ip range',
  },
  {
    violation: 'a range in reverse order',
    spec: { ...lan, excludeIps: ['10.60.0.9..10.60.0.2'] },
    expected: '10.60.0.9..10.60.0.2 in excludeIps is not a valid ip range',
  },
  {
    violation: 'an excluded address that is not valid',
    spec: { ...lan, excludeIps: ['10.60.0.300'] },
    expected: 'ip 10.60.0.300 in excludeIps is not a valid address',
  },
  {
    violation: 'upper case in a CIDR',
    spec: { cidrBlock: 'FD00:60::/64' },
    expected: 'subnet cidr block FD00:60::/64 v6 ip address can not contain upper case',
  },
  {
    violation: 'upper case in a gateway',
    spec: { ...six, gateway: 'fd00:60::A' },
    expected: 'subnet gateway fd00:60::A v6 ip address can not contain upper case',
  },
  {
    violation: 'upper case in an excluded address',
    spec: { ...six, excludeIps: ['fd00:60::A'] },
    expected: 'subnet exclude ip fd00:60::A can not contain upper case',
  },
  {
    violation: 'upper case in a vip',
    spec: { ...six, vips: ['fd00:60::A'] },
    expected: 'vips fd00:60::A v6 ip address can not contain upper case',
  },
  {
    violation: 'a vip outside the CIDR',
    spec: { ...lan, vips: ['10.61.0.9'] },
    expected: 'vip 10.61.0.9 conflicts with subnet',
  },
  {
    violation: 'an MTU below the IPv6 minimum',
    spec: { ...six, mtu: 1279 },
    expected: 'mtu 1279 is below the IPv6 minimum 1280',
  },
];

describe('bad input: the rules for a Subnet', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  const nameOf = (index: number): string => `broken-${index}`;
  before(async () => {
    scene = await openTestEnvironment();
    await Promise.all(
      violations.map(({ spec }, index) =>
        scene.kubernetes.create({
          kind: 'Subnet',
          metadata: { name: nameOf(index) },
          spec: { provider: `broken-${index}.default`, ...spec },
        }),
      ),
    );
  });
  after(() => scene?.run.end());

  for (const [index, { violation, expected }] of violations.entries())
    it(`the conditions report ${violation}`, () =>
      eventually(async () => {
        const { status } = await scene.kubernetes.get('Subnet', nameOf(index));
        const conditions = (status?.['conditions'] ?? []) as {
          type: string;
          status: string;
          reason: string;
          message: string;
        }[];
        const validated = conditions.find(({ type }) => type === 'Validated');
        expect(validated).to.include({ status: 'False', reason: 'ValidateLogicalSwitchFailed' });
        expect(validated?.message).to.contain(expected);
      }));
});
