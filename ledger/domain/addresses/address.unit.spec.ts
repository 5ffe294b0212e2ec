import { expect } from 'chai';
import fc from 'fast-check';
import {
  type Address,
  addressBits,
  canonicalAddress,
  canonicalMac,
  formatAddress,
  formatCidr,
  formatterOf,
  lastAddressOf,
  parseAddress,
  parseCidr,
} from './address.ts';

const anyAddress: fc.Arbitrary<Address> = fc
  .constantFrom(4 as const, 6 as const)
  .chain((family) => fc.bigInt(0n, (1n << BigInt(addressBits(family))) - 1n).map((value) => ({ family, value })))
  // ::ffff:0:0/96 has IPv4-mapped addresses, which are rejected.
  .filter(({ family, value }) => family === 4 || value >> 32n !== 0xffffn);

describe('An address', () => {
  it('An address has a canonical text that parses to the same address', () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        expect(parseAddress(formatAddress(address))).to.deep.equal(address);
      }),
    );
  });

  it('formatterOf formats an address as formatAddress does, after any other addresses', () => {
    // formatterOf reuses the text of the previous address, and groups of 0 may become "::".
    const anyGroups = fc.array(fc.constantFrom(0n, 0n, 1n, 0xab0n), { minLength: 8, maxLength: 8 });
    const anyNeighbour = anyGroups.map((groups) => groups.reduce<bigint>((value, group) => (value << 16n) | group, 0n));
    fc.assert(
      fc.property(fc.array(anyNeighbour, { maxLength: 20 }), fc.array(anyAddress), (neighbours, others) => {
        const texts = { 4: formatterOf(4), 6: formatterOf(6) };
        for (const value of neighbours) expect(texts[6](value)).to.equal(formatAddress({ family: 6, value }));
        for (const address of others) expect(texts[address.family](address.value)).to.equal(formatAddress(address));
      }),
    );
  });

  for (const [written, canonical] of [
    ['172.17.0.11', '172.17.0.11'],
    ['FD00:0:0::0001', 'fd00::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ] as const)
    it(`An address written ${written} has the canonical text ${canonical}`, () => {
      expect(canonicalAddress(written)).to.equal(canonical);
    });

  for (const text of [
    '',
    '1',
    '010.0.0.1',
    '0x7f.1',
    '1.2.3',
    '1.2.3.4/24',
    '256.0.0.1',
    'fe80::1%eth0',
    '::ffff:1.2.3.4',
    'a',
  ])
    it(`parseAddress returns undefined for "${text}"`, () => {
      expect(parseAddress(text)).to.equal(undefined);
    });
});

describe('parseCidr', () => {
  it('parseCidr clears the host bits', () => {
    const cidr = parseCidr('192.168.0.1/24');
    expect(cidr && formatCidr(cidr)).to.equal('192.168.0.0/24');
    expect(cidr && formatAddress({ family: 4, value: lastAddressOf(cidr) })).to.equal('192.168.0.255');
  });

  for (const text of ['10/8', '10.0.0.0', '10.0.0.0/33', '10.0.0.0/024', '10.0.0.0/8/8', 'fd00::/129', '10.0.0.0/-1'])
    it(`parseCidr returns undefined for "${text}"`, () => {
      expect(parseCidr(text)).to.equal(undefined);
    });
});

describe('canonicalMac', () => {
  it('canonicalMac returns lower case with colons for any accepted spelling', () => {
    expect(canonicalMac('00:00:00:53:6B:BB')).to.equal('00:00:00:53:6b:bb');
    expect(canonicalMac('02-00-00-53-6B-BB')).to.equal('02:00:00:53:6b:bb');
    expect(canonicalMac('0200.0053.6BBB')).to.equal('02:00:00:53:6b:bb');
  });

  for (const text of [
    '',
    '00:00:00:00:00:00',
    '01:00:5e:00:00:01',
    '02:00:00:00:00',
    '02:00:00:00:00:0g',
    '02:00-00:53:6b:bb',
    '02:00:5e:10:00:00:00:01',
  ])
    it(`canonicalMac returns undefined for "${text}"`, () => {
      expect(canonicalMac(text)).to.equal(undefined);
    });
});
