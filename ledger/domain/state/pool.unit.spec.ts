import { expect } from 'chai';
import { formatRanges } from '../addresses/interval.ts';
import { normalisePool, poolIntervals } from './pool.ts';

const normalise = (...ips: string[]) => normalisePool('p', { subnet: 's', ips, namespaces: ['b', 'a', 'b'] });

describe('normalisePool', () => {
  it('normalisePool merges overlapping and adjacent ranges, puts IPv4 first, and lists each namespace once', () => {
    const spec = normalise('10.0.0.5', 'fd00::8/126', '10.0.0.13..10.0.0.18', '10.0.0.6', ' 10.0.0.4 ', '10.0.0.16/31');
    expect(spec).to.deep.equal({
      subnet: 's',
      ips: ['10.0.0.4..10.0.0.6', '10.0.0.13..10.0.0.18', 'fd00::8..fd00::b'],
      namespaces: ['a', 'b'],
    });
  });

  it('normalisePool keeps the addresses of each family', () => {
    const spec = normalise('10.0.0.5', '10.0.0.13..10.0.0.18', '10.0.0.6', '10.0.0.4', 'fd00::1');
    if ('problems' in spec) throw new Error();
    expect(formatRanges(4, poolIntervals(spec, 4))).to.equal('10.0.0.4-10.0.0.6,10.0.0.13-10.0.0.18');
    expect(formatRanges(6, poolIntervals(spec, 6))).to.equal('fd00::1');
  });

  it('normalisePool returns a normalised spec unchanged', () => {
    const once = normalise('10.0.0.0/28', 'FD00::1', '10.0.0.77');
    if ('problems' in once) throw new Error();
    expect(normalisePool('p', once)).to.deep.equal(once);
  });

  for (const [ip, message] of [
    ['10.0.0.261', 'ippool p: invalid IP address "10.0.0.261"'],
    ['10.0.0.5-10.0.0.9', 'invalid IP address "10.0.0.5-10.0.0.9": write "10.0.0.5..10.0.0.9"'],
    ['192.168.1.2..192.168.1.1', '192.168.1.2 is greater than 192.168.1.1'],
    ['invalidCIDR/24', 'invalid CIDR address: invalidCIDR/24'],
    ['10.0.0.1..fd00::1', 'both ends must be of one family'],
    ['10.0.0.1..10.0.0.2..10.0.0.3', 'invalid IP range "10.0.0.1..10.0.0.2..10.0.0.3"'],
  ] as const)
    it(`normalisePool rejects ${ip}: ${message}`, () => {
      const spec = normalise('10.0.0.5', ip);
      expect('problems' in spec && spec.problems.join()).to.contain(message);
    });

  it('normalisePool rejects a pool without addresses', () => {
    expect(normalise()).to.have.property('problems');
  });
});
