import { expect } from 'chai';
import fc from 'fast-check';
import { sharedWires, type WiredNetwork, type WiredSubnet } from './shared-wires.ts';

const network = (name: string, wire = 'eth1'): WiredNetwork => ({
  key: `default/${name}`,
  provider: `${name}.default`,
  wire,
});
const subnet = (name: string, cidrBlock: string, excludeIps: string[] = []): WiredSubnet => ({
  name: `of-${name}`,
  provider: `${name}.default`,
  cidrBlock,
  excludeIps,
});
/** "subnet: the other Subnet of its network" */
const told = (networks: readonly WiredNetwork[], subnets: readonly WiredSubnet[]) =>
  [...sharedWires(networks, subnets)].map(([name, { other }]) => `${name}: ${other.subnet} of ${other.network}`).sort();

const ab = [network('a'), network('b')];

describe('Subnets on one wire', () => {
  it('that overlap each name the other, with its network', () => {
    expect(told(ab, [subnet('a', '10.0.0.0/16'), subnet('b', '10.0.7.0/24')])).to.deep.equal([
      'of-a: of-b of default/b',
      'of-b: of-a of default/a',
    ]);
    expect(sharedWires(ab, [subnet('a', '10.0.0.0/16'), subnet('b', '10.0.7.0/24')]).get('of-a')).to.deep.equal({
      wire: 'eth1',
      network: 'default/a',
      other: { subnet: 'of-b', network: 'default/b' },
    });
  });

  it('of two wires share nothing, nor do those that no network has', () => {
    const both = [subnet('a', '10.0.0.0/16'), subnet('b', '10.0.7.0/24')];
    expect(told([network('a'), network('b', 'eth1, VLAN 7')], both)).to.deep.equal([]);
    expect(told([network('a')], both)).to.deep.equal([]);
  });

  it('of one network are not named: the allocator refuses those that overlap', () => {
    const twice = [subnet('a', '10.0.0.0/16'), { ...subnet('a', '10.0.0.0/16'), name: 'again' }];
    expect(told(ab, twice)).to.deep.equal([]);
  });

  it('whose ranges are kept apart by excludes share nothing', () => {
    const halves = [
      subnet('a', '10.0.0.0/24', ['10.0.0.1', '10.0.0.128..10.0.0.254']),
      subnet('b', '10.0.0.0/24', ['10.0.0.1..10.0.0.127']),
    ];
    expect(told(ab, halves)).to.deep.equal([]);
    const touching = [halves[0] as WiredSubnet, subnet('b', '10.0.0.0/24', ['10.0.0.1..10.0.0.126'])];
    expect(told(ab, touching)).to.have.length(2);
  });

  it('are compared by family', () => {
    const dual = subnet('a', '10.0.0.0/24,fd00::/64');
    expect(told(ab, [dual, subnet('b', 'fd00::/80')])).to.have.length(2);
    expect(told(ab, [dual, subnet('b', '10.0.1.0/24,fd01::/64')])).to.deep.equal([]);
    expect(told(ab, [subnet('a', '0.0.0.0/0'), subnet('b', '::/0')])).to.deep.equal([]);
  });

  it('with a CIDR that cannot be read share nothing', () => {
    expect(told(ab, [subnet('a', 'x,10.0.0.0/99'), subnet('b', '10.0.0.0/24', ['y..z'])])).to.deep.equal([]);
  });

  it('each is told of one other if it overlaps any, and of none else', () => {
    const range = fc
      .tuple(fc.nat(30), fc.nat(6))
      .map(([at, bits]) => `10.0.0.${(at << 3) & (256 - (1 << bits))}/${32 - bits}`);
    fc.assert(
      fc.property(fc.array(range, { maxLength: 20 }), (cidrs) => {
        const names = cidrs.map((_, index) => `n${index}`);
        const subnets = cidrs.map((cidr, index) => subnet(names[index] as string, cidr));
        const found = sharedWires(
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

  it('ten thousand that all overlap are told in one pass', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `n${index}`);
    const found = sharedWires(
      names.map((name) => network(name)),
      names.map((name) => subnet(name, '10.0.0.0/8')),
    );
    expect(found.size).to.equal(10_000);
  });
});

/** Whether two CIDRs inside 10.0.0.0/24 have hosts in common, address by address. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [hosts(one), hosts(other)];
  return a.some((each) => b.includes(each));
}

function hosts(cidr: string): number[] {
  const [base = '', length = ''] = cidr.replace('10.0.0.', '').split('/');
  const all = Array.from({ length: 1 << (32 - Number(length)) }, (_, index) => Number(base) + index);
  return all.length > 2 ? all.slice(1, -1) : all;
}
