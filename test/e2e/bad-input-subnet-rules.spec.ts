/** Each rule of Kube-OVN's for a Subnet's spec, as whoever breaks it is told: on the conditions, in Kube-OVN's words. */
import { expect } from 'chai';
import { eventually } from './eventually.ts';
import { openScene, type Scene } from './scene.ts';

interface Broken {
  readonly rule: string;
  readonly spec: object;
  readonly says: string;
}

const lan = { cidrBlock: '10.60.0.0/24' };
const six = { cidrBlock: 'fd00:60::/64' };
const reserved = (cidrBlock: string, says: string): Broken => ({
  rule: `the reserved range ${cidrBlock}`,
  spec: { cidrBlock },
  says: `${cidrBlock} conflict with ${says}`,
});

const rules: readonly Broken[] = [
  { rule: 'no CIDR', spec: { cidrBlock: '' }, says: 'CIDRBlock: "" format error' },
  { rule: 'what is no CIDR', spec: { cidrBlock: '10.60.0' }, says: 'cidr 10.60.0 is invalid' },
  { rule: 'a zero CIDR', spec: { cidrBlock: '0.0.0.0/8' }, says: 'invalid zero cidr "0.0.0.0/8"' },
  {
    rule: 'a broadcast CIDR',
    spec: { cidrBlock: '255.255.255.255/30' },
    says: 'invalid broadcast cidr "255.255.255.255/30"',
  },
  reserved('127.0.1.0/24', 'v4 loopback cidr 127.0.0.1/8'),
  reserved('224.0.1.0/24', 'v4 multicast cidr 224.0.0.0/4'),
  reserved('169.254.1.0/24', 'v4 link local cidr 169.254.0.0/16'),
  reserved('::/120', 'v6 unspecified cidr ::/128'),
  reserved('ff02::/64', 'v6 multicast cidr ff00::/8'),
  reserved('fe80:1::/64', 'v6 link local cidr FE80::/10'),
  { rule: 'one address alone', spec: { cidrBlock: '10.60.0.1/32' }, says: 'is configured with /32 or /128 netmask' },
  {
    rule: 'one IPv6 address alone',
    spec: { cidrBlock: 'fd00:60::1/128' },
    says: 'is configured with /32 or /128 netmask',
  },
  {
    rule: 'a gateway outside',
    spec: { ...lan, gateway: '10.61.0.1' },
    says: 'gateway 10.61.0.1 is not in cidr 10.60.0.0/24',
  },
  {
    rule: 'the network’s own address as gateway',
    spec: { ...lan, gateway: '10.60.0.0' },
    says: '10.60.0.0 is the network number ip in cidr 10.60.0.0/24',
  },
  {
    rule: 'the broadcast address as gateway',
    spec: { ...lan, gateway: '10.60.0.255' },
    says: '10.60.0.255 is the broadcast ip in cidr 10.60.0.0/24',
  },
  {
    rule: 'a range of three',
    spec: { ...lan, excludeIps: ['10.60.0.2..10.60.0.3..10.60.0.4'] },
    says: '10.60.0.2..10.60.0.3..10.60.0.4 in excludeIps is not a valid ip range',
  },
  {
    rule: 'a range backwards',
    spec: { ...lan, excludeIps: ['10.60.0.9..10.60.0.2'] },
    says: '10.60.0.9..10.60.0.2 in excludeIps is not a valid ip range',
  },
  {
    rule: 'an exclude that is no address',
    spec: { ...lan, excludeIps: ['10.60.0.300'] },
    says: 'ip 10.60.0.300 in excludeIps is not a valid address',
  },
  {
    rule: 'capitals in a CIDR',
    spec: { cidrBlock: 'FD00:60::/64' },
    says: 'subnet cidr block FD00:60::/64 v6 ip address can not contain upper case',
  },
  {
    rule: 'capitals in a gateway',
    spec: { ...six, gateway: 'fd00:60::A' },
    says: 'subnet gateway fd00:60::A v6 ip address can not contain upper case',
  },
  {
    rule: 'capitals in an exclude',
    spec: { ...six, excludeIps: ['fd00:60::A'] },
    says: 'subnet exclude ip fd00:60::A can not contain upper case',
  },
  {
    rule: 'capitals in a vip',
    spec: { ...six, vips: ['fd00:60::A'] },
    says: 'vips fd00:60::A v6 ip address can not contain upper case',
  },
  { rule: 'a vip outside', spec: { ...lan, vips: ['10.61.0.9'] }, says: 'vip 10.61.0.9 conflicts with subnet' },
  { rule: 'an MTU below IPv6’s least', spec: { ...six, mtu: 1279 }, says: 'mtu 1279 is below the IPv6 minimum 1280' },
];

describe('bad input: each rule for a Subnet', function () {
  this.timeout(120_000);
  let scene: Scene;
  const nameOf = (index: number): string => `broken-${index}`;
  before(async () => {
    scene = await openScene();
    await Promise.all(
      rules.map(({ spec }, index) =>
        scene.kubernetes.create({
          kind: 'Subnet',
          metadata: { name: nameOf(index) },
          spec: { provider: `broken-${index}.default`, ...spec },
        }),
      ),
    );
  });
  after(() => scene?.run.end());

  for (const [index, { rule, says }] of rules.entries())
    it(`${rule}: the conditions say so`, () =>
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
        expect(validated?.message).to.contain(says);
      }));
});
