import { expect } from 'chai';
import { noBindingTimeoutMs, type RequestedSubnet } from '../commands/command.ts';
import { formatRanges } from '../addresses/interval.ts';
import { type Subnet, subnetFromSpec } from './subnet.ts';
import { normaliseSubnet } from './normalise-subnet.ts';

const normalise = (spec: Partial<RequestedSubnet>) =>
  normaliseSubnet('s', {
    cidrBlock: '10.0.0.0/24',
    gateway: '',
    excludeIps: [],
    provider: 'p.default',
    protocol: '',
    ...spec,
  });
const valid = (spec: Partial<RequestedSubnet>): Subnet => {
  const subnet = normalise(spec);
  if ('problems' in subnet) throw new Error(subnet.problems.join('; '));
  return subnet;
};
const usable = (spec: Partial<RequestedSubnet>): string[] =>
  valid(spec).families.map((family) => formatRanges(family.family, family.usable));

describe('normaliseSubnet', () => {
  it('normaliseSubnet clears host bits, defaults the gateway to the first host, and excludes the gateway', () => {
    expect(valid({ cidrBlock: '10.0.0.77/24' }).spec).to.deep.equal({
      cidrBlock: '10.0.0.0/24',
      gateway: '10.0.0.1',
      excludeIps: ['10.0.0.1'],
      provider: 'p.default',
      protocol: 'IPv4',
      cooldownMs: 60_000,
      bindingTimeoutMs: noBindingTimeoutMs,
    });
  });

  it('normaliseSubnet merges overlapping excludes, and writes a range of one address as that address', () => {
    const { spec } = valid({ excludeIps: ['10.0.0.9..10.0.0.9', '10.0.0.5..10.0.0.7', '10.0.0.6..10.0.0.8'] });
    expect(spec.excludeIps).to.deep.equal(['10.0.0.1', '10.0.0.5..10.0.0.9']);
  });

  it('normaliseSubnet puts IPv4 first, sets a gateway for each family, and derives the protocol from the CIDRs', () => {
    const { spec } = valid({ cidrBlock: 'fd00:1::/64,10.0.0.0/24', gateway: '10.0.0.254', protocol: 'IPv4' });
    expect(spec).to.deep.include({
      cidrBlock: '10.0.0.0/24,fd00:1::/64',
      gateway: '10.0.0.254,fd00:1::1',
      protocol: 'Dual',
    });
  });

  it('normaliseSubnet returns a normalised spec unchanged, also when it is read from the log', () => {
    const once = valid({ cidrBlock: '10.0.0.9/24,fd00:1::9/64', excludeIps: ['10.0.0.200..10.0.0.250', 'fd00:1::2'] });
    expect(valid(once.spec)).to.deep.equal(once);
    expect(subnetFromSpec('s', once.spec)).to.deep.equal(once);
  });
});

describe('The usable addresses of a Subnet', () => {
  it('WB-666 are its hosts without its excludes', () => {
    expect(usable({ excludeIps: ['10.0.0.1..10.0.0.10'] })).to.deep.equal(['10.0.0.11-10.0.0.254']);
  });

  it('the usable addresses of a /31 are its two addresses without the gateway', () => {
    expect(usable({ cidrBlock: '10.0.0.0/31' })).to.deep.equal(['10.0.0.1']);
  });

  it('The usable addresses of a Subnet are not reduced by excludes outside the CIDR', () => {
    expect(usable({ excludeIps: ['192.168.0.1..192.168.0.9', 'fd00::1'] })).to.deep.equal(['10.0.0.2-10.0.0.254']);
  });
});

describe('normaliseSubnet rejects', () => {
  for (const [spec, message] of [
    [{ cidrBlock: '' }, 'CIDRBlock: "" format error'],
    [{ cidrBlock: '10.0.0.0' }, 'subnet s cidr 10.0.0.0 is invalid: 10.0.0.0 is not a valid cidr'],
    [{ cidrBlock: '10.0.0.0/24,10.1.0.0/24' }, 'at most one of each family'],
    [{ cidrBlock: '10.0.0.1/32' }, 'subnet 10.0.0.1/32 is configured with /32 or /128 netmask'],
    [{ cidrBlock: '127.0.1.0/24' }, '127.0.1.0/24 conflict with v4 loopback cidr 127.0.0.1/8'],
    [{ cidrBlock: '0.0.0.0/8' }, 'invalid zero cidr "0.0.0.0/8"'],
    [{ cidrBlock: '255.255.255.255/32' }, 'invalid broadcast cidr "255.255.255.255/32"'],
    [{ cidrBlock: '169.254.1.0/24' }, 'conflict with v4 link local cidr 169.254.0.0/16'],
    [{ cidrBlock: 'fe80::/64' }, 'conflict with v6 link local cidr FE80::/10'],
    [{ cidrBlock: 'FD00::/64' }, 'subnet cidr block FD00::/64 v6 ip address can not contain upper case'],
    [{ gateway: '10.1.0.1' }, 'gateway 10.1.0.1 is not in cidr 10.0.0.0/24'],
    [{ gateway: '10.0.0.0' }, '10.0.0.0 is the network number ip in cidr 10.0.0.0/24'],
    [{ gateway: '10.0.0.255' }, '10.0.0.255 is the broadcast ip in cidr 10.0.0.0/24'],
    [{ gateway: 'x' }, 'gateway x is not a valid address'],
    [{ excludeIps: ['10.0.0.9..10.0.0.5'] }, '10.0.0.9..10.0.0.5 in excludeIps is not a valid ip range'],
    [{ excludeIps: ['10.0.0.1..10.0.0.2..10.0.0.3'] }, 'in excludeIps is not a valid ip range'],
    [{ excludeIps: ['10.0.0.300'] }, 'ip 10.0.0.300 in excludeIps is not a valid address'],
    [{ excludeIps: ['10.0.0.5-10.0.0.9'] }, 'is not a valid address: write "10.0.0.5..10.0.0.9"'],
    [{ excludeIps: ['10.0.0.8/29'] }, 'is not a valid address: write "10.0.0.8..10.0.0.15"'],
    [{ gateway: '10.0.0.1/24' }, 'is not a valid address: write it without a mask, "10.0.0.1"'],
    [{ protocol: 'IPX' }, 'IPX is not a valid protocol type'],
    [{ cooldownMs: -1 }, 'cooldownMs is a number of milliseconds'],
  ] as const)
    it(`${JSON.stringify(spec)}: ${message}`, () => {
      const subnet = normalise(spec);
      expect('problems' in subnet && subnet.problems.join('; ')).to.contain(message);
    });
});
