import { expect } from 'chai';
import { toOvn4nfvNetwork } from './ovn4nfv-network.ts';

const networkOf = (spec: object) =>
  toOvn4nfvNetwork({ metadata: { name: 'net', namespace: 'default', uid: 'u' }, spec });
const v4 = { subnet: '172.16.44.0/24', gateway: '172.16.44.1/24', excludeIps: '172.16.44.2 172.16.44.5..172.16.44.10' };

describe('A Network of OVN4NFV', () => {
  it('A Network of OVN4NFV has a range per family, with its gateway and excluded addresses', () => {
    const { ranges, problems } = networkOf({
      cniType: 'ovn4nfv',
      ipv4Subnets: [v4],
      ipv6Subnets: [{ subnet: 'fd00::/64' }],
    });
    expect(problems).to.deep.equal([]);
    expect(ranges).to.deep.equal([
      { cidr: '172.16.44.0/24', gateway: '172.16.44.1', excludeIps: ['172.16.44.2', '172.16.44.5..172.16.44.10'] },
      { cidr: 'fd00::/64', gateway: '', excludeIps: [] },
    ]);
  });

  it('A Network of OVN4NFV names the fields that have no effect', () => {
    expect(networkOf({ ipv4Subnets: [v4, v4], dns: { domain: 'x' }, routes: [] }).ignoredFields).to.deep.equal([
      'spec.dns',
      'spec.ipv4Subnets after the first entry',
    ]);
  });

  const faults: [what: string, spec: object, expected: RegExp][] = [
    ['without a range', {}, /are empty: name a subnet/],
    ['of another type', { cniType: 'other', ipv4Subnets: [v4] }, /spec\.cniType "other" is not served/],
    ['with a malformed range', { ipv4Subnets: [{ subnet: 'x' }] }, /spec\.ipv4Subnets\[0\]\.subnet "x" is not a CIDR/],
    ['with a malformed gateway', { ipv4Subnets: [{ ...v4, gateway: 'gw' }] }, /gateway "gw" is not an address/],
    ['with too many ranges', { ipv4Subnets: Array.from({ length: 17 }, () => v4) }, /has 17 entries, and at most 16/],
    ['with too long excludes', { ipv4Subnets: [{ ...v4, excludeIps: ' '.repeat(16_385) }] }, /16385 characters/],
    ['with too many excludes', { ipv4Subnets: [{ ...v4, excludeIps: 'a '.repeat(4_097) }] }, /4097 entries/],
  ];
  for (const [what, spec, expected] of faults)
    it(`A Network of OVN4NFV ${what} has a problem`, () => expect(networkOf(spec).problems.join()).to.match(expected));
});
