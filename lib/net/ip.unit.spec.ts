import { expect } from 'chai';
import { cidrContains, ipv4First, isAddress, isCidr, networkAddressOf } from './ip.ts';

const texts = [
  '10.0.0.1',
  'fd00::1',
  '10.0.0.1/24',
  'fd00::/64',
  'fe80::1%eth0',
  'fe80::1%eth0/64',
  '10.0.0.0/33',
  '10.0.0.0/8/8',
  '/8',
  'a',
  '',
];

describe('Addresses', () => {
  it('Addresses are sorted by family, IPv4 first, and keep their order in a family', () => {
    expect(ipv4First(new Set(['fd00::2', '10.0.0.9', 'fd00::1', '10.0.0.1']))).to.deep.equal([
      '10.0.0.9',
      '10.0.0.1',
      'fd00::2',
      'fd00::1',
    ]);
  });
});

describe('A text', () => {
  it('A text is an address only without mask and zone', () => {
    expect(texts.filter(isAddress)).to.deep.equal(['10.0.0.1', 'fd00::1']);
  });

  it('A text is a CIDR with a prefix length of its family, with or without host bits', () => {
    expect(texts.filter(isCidr)).to.deep.equal(['10.0.0.1/24', 'fd00::/64']);
  });

  it('cidrContains reports whether an address is inside a CIDR', () => {
    const inside = (cidr: string) =>
      ['10.0.0.7', '10.0.1.7', 'fd00::7', 'a'].filter((text) => cidrContains(cidr, text));
    expect(inside('10.0.0.9/24')).to.deep.equal(['10.0.0.7']);
    expect(inside('fd00::/64')).to.deep.equal(['fd00::7']);
    for (const cidr of ['10.0.0.0', '10.0.0.0/33', '']) expect(inside(cidr)).to.deep.equal([]);
  });

  it('networkAddressOf clears the host bits', () => {
    const networks: Readonly<Record<string, string>> = {
      '192.168.0.101/24': '192.168.0.0/24',
      '255.255.255.255/1': '128.0.0.0/1',
      '10.1.2.3/0': '0.0.0.0/0',
      '10.1.2.3/32': '10.1.2.3/32',
      'fd00:1:2:3::ffff/63': 'fd00:1:2:2:0:0:0:0/63',
      '::/0': '0:0:0:0:0:0:0:0/0',
    };
    for (const [cidr, network] of Object.entries(networks)) expect(networkAddressOf(cidr)).to.equal(network);
    for (const text of ['10.0.0.0', '10.0.0.0/024', '::ffff:10.0.0.1/112'])
      expect(() => networkAddressOf(text), text).to.throw('is no CIDR');
  });
});
