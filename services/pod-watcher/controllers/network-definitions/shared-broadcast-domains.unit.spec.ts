import { expect } from 'chai';
import fc from 'fast-check';
import { findSharedBroadcastDomains, type DomainNetwork, type DomainSubnet } from './shared-broadcast-domains.ts';

const network = (name: string, broadcastDomain = 'eth1'): DomainNetwork => ({
  key: `default/${name}`,
  provider: `${name}.default`,
  broadcastDomain,
});
const subnet = (name: string, cidrBlock: string, excludeIps: string[] = []): DomainSubnet => ({
  name: `of-${name}`,
  provider: `${name}.default`,
  cidrBlock,
  excludeIps,
});
/** Describes each overlap as "subnet: other Subnet of network". */
const overlapsOf = (networks: readonly DomainNetwork[], subnets: readonly DomainSubnet[]) =>
  [...findSharedBroadcastDomains(networks, subnets)]
    .map(([name, { other }]) => `${name}: ${other.subnet} of ${other.network}`)
    .sort();

const ab = [network('a'), network('b')];

describe('Subnets in one broadcast domain', () => {
  it('Subnets in one broadcast domain have each other as overlap, with the network', () => {
    expect(overlapsOf(ab, [subnet('a', '10.0.0.0/16'), subnet('b', '10.0.7.0/24')])).to.deep.equal([
      'of-a: of-b of default/b',
      'of-b: of-a of default/a',
    ]);
    expect(
      findSharedBroadcastDomains(ab, [subnet('a', '10.0.0.0/16'), subnet('b', '10.0.7.0/24')]).get('of-a'),
    ).to.deep.equal({
      broadcastDomain: 'eth1',
      network: 'default/a',
      other: { subnet: 'of-b', network: 'default/b' },
    });
  });

  it('Subnets in one broadcast domain have no overlap with Subnets of another domain, or without a network', () => {
    const both = [subnet('a', '10.0.0.0/16'), subnet('b', '10.0.7.0/24')];
    expect(overlapsOf([network('a'), network('b', 'eth1, VLAN 7')], both)).to.deep.equal([]);
    expect(overlapsOf([network('a')], both)).to.deep.equal([]);
  });

  it('Subnets in one broadcast domain have no overlap within one network, because the allocator rejects it', () => {
    const twice = [subnet('a', '10.0.0.0/16'), { ...subnet('a', '10.0.0.0/16'), name: 'again' }];
    expect(overlapsOf(ab, twice)).to.deep.equal([]);
  });

  it('Subnets in one broadcast domain have no overlap if excludeIps separate them', () => {
    const halves = [
      subnet('a', '10.0.0.0/24', ['10.0.0.1', '10.0.0.128..10.0.0.254']),
      subnet('b', '10.0.0.0/24', ['10.0.0.1..10.0.0.127']),
    ];
    expect(overlapsOf(ab, halves)).to.deep.equal([]);
    const touching = [halves[0] as DomainSubnet, subnet('b', '10.0.0.0/24', ['10.0.0.1..10.0.0.126'])];
    expect(overlapsOf(ab, touching)).to.have.length(2);
  });

  it('Subnets in one broadcast domain have an overlap if the text in excludeIps that would separate them is no range', () => {
    for (const text of ['10.0.0.1..x', 'x..10.0.0.254', 'x'])
      expect(overlapsOf(ab, [subnet('a', '10.0.0.0/24', [text]), subnet('b', '10.0.0.0/24')]), text).to.have.length(2);
  });

  it('Subnets in one broadcast domain have no overlap if excludeIps separate them in IPv6', () => {
    const half = subnet('a', 'fd00::/64', ['fd00::8000..fd00::ffff:ffff:ffff:ffff']);
    expect(overlapsOf(ab, [half, subnet('b', 'fd00::8000/113')])).to.deep.equal([]);
    expect(overlapsOf(ab, [half, subnet('b', 'fd00::/112')])).to.have.length(2);
  });

  it('Subnets in one broadcast domain have no overlap in addresses that excludeIps name, in any order', () => {
    const excludeIps = ['10.0.0.254', '10.0.0.100..10.0.0.200', '10.0.0.1', '10.0.0.50..10.0.0.120', '10.0.0.60'];
    const a = subnet('a', '10.0.0.0/24', excludeIps);
    const at = (address: string): number[] => {
      const b = subnet('b', `${address}/32`);
      return [overlapsOf(ab, [a, b]).length, overlapsOf(ab, [b, a]).length];
    };
    for (const free of ['10.0.0.2', '10.0.0.49', '10.0.0.201', '10.0.0.253'])
      expect(at(free), free).to.deep.equal([2, 2]);
    for (const excluded of ['10.0.0.1', '10.0.0.50', '10.0.0.60', '10.0.0.61', '10.0.0.121', '10.0.0.254'])
      expect(at(excluded), excluded).to.deep.equal([0, 0]);
  });

  it('Subnets in one broadcast domain are compared by family', () => {
    const dual = subnet('a', '10.0.0.0/24,fd00::/64');
    expect(overlapsOf(ab, [dual, subnet('b', 'fd00::/80')])).to.have.length(2);
    expect(overlapsOf(ab, [dual, subnet('b', '10.0.1.0/24,fd01::/64')])).to.deep.equal([]);
    expect(overlapsOf(ab, [subnet('a', '0.0.0.0/0'), subnet('b', '::/0')])).to.deep.equal([]);
  });

  it('Subnets in one broadcast domain have no overlap if a CIDR cannot be parsed', () => {
    expect(overlapsOf(ab, [subnet('a', 'x,10.0.0.0/99'), subnet('b', '10.0.0.0/24', ['y..z'])])).to.deep.equal([]);
  });

  it('Subnets in one broadcast domain have one overlap each if they overlap any other Subnet, and none otherwise', () => {
    const range = fc
      .tuple(fc.nat(30), fc.nat(6))
      .map(([at, bits]) => `10.0.0.${(at << 3) & (256 - (1 << bits))}/${32 - bits}`);
    fc.assert(
      fc.property(fc.array(range, { maxLength: 20, size: 'max' }), (cidrs) => {
        const names = cidrs.map((_, index) => `n${index}`);
        const subnets = cidrs.map((cidr, index) => subnet(names[index] as string, cidr));
        const found = findSharedBroadcastDomains(
          names.map((name) => network(name)),
          subnets,
        );
        for (const one of subnets) {
          const others = subnets.filter((other) => other !== one && overlap(one.cidrBlock, other.cidrBlock));
          const { other } = found.get(one.name) ?? {};
          if (others.length === 0) expect(other).to.equal(undefined);
          else expect(others.map(({ name }) => name)).to.include(other?.subnet);
        }
      }),
    );
  });

  it('10,000 overlapping Subnets in one broadcast domain are checked in one pass', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `n${index}`);
    const found = findSharedBroadcastDomains(
      names.map((name) => network(name)),
      names.map((name) => subnet(name, '10.0.0.0/8')),
    );
    expect(found.size).to.equal(10_000);
  });
});

/** Whether two CIDRs inside 10.0.0.0/24 have hosts in common, compared address by address. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [hosts(one), hosts(other)];
  return a.some((each) => b.includes(each));
}

function hosts(cidr: string): number[] {
  const [base = '', length = ''] = cidr.replace('10.0.0.', '').split('/');
  const all = Array.from({ length: 1 << (32 - Number(length)) }, (_, index) => Number(base) + index);
  return all.length > 2 ? all.slice(1, -1) : all;
}
