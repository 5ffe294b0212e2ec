import { expect } from 'chai';
import { formatRanges } from './interval.ts';
import { normalisePool, rangesOf } from './pool.ts';

const normalise = (...ips: string[]) => normalisePool('p', { subnet: 's', ips, namespaces: ['b', 'a', 'b'] });

describe('A pool, normalised', () => {
  it('has what overlaps or touches merged, IPv4 first, and each namespace once', () => {
    const spec = normalise('10.0.0.5', 'fd00::8/126', '10.0.0.13..10.0.0.18', '10.0.0.6', ' 10.0.0.4 ', '10.0.0.16/31');
    expect(spec).to.deep.equal({
      subnet: 's',
      ips: ['10.0.0.4..10.0.0.6', '10.0.0.13..10.0.0.18', 'fd00::8..fd00::b'],
      namespaces: ['a', 'b'],
    });
  });

  it('shows as ranges of each family', () => {
    const spec = normalise('10.0.0.5', '10.0.0.13..10.0.0.18', '10.0.0.6', '10.0.0.4', 'fd00::1');
    if ('problems' in spec) throw new Error();
    expect(formatRanges(4, rangesOf(spec, 4))).to.equal('10.0.0.4-10.0.0.6,10.0.0.13-10.0.0.18');
    expect(formatRanges(6, rangesOf(spec, 6))).to.equal('fd00::1');
  });

  it('is the same when it is normalised again', () => {
    const once = normalise('10.0.0.0/28', 'FD00::1', '10.0.0.77');
    if ('problems' in once) throw new Error();
    expect(normalisePool('p', once)).to.deep.equal(once);
  });

  for (const [ip, message] of [
    ['10.0.0.261', 'ippool p: invalid IP address "10.0.0.261"'],
    ['192.168.1.2..192.168.1.1', '192.168.1.2 is greater than 192.168.1.1'],
    ['invalidCIDR/24', 'invalid CIDR address: invalidCIDR/24'],
    ['10.0.0.1..fd00::1', 'both ends are of one family'],
    ['10.0.0.1..10.0.0.2..10.0.0.3', 'invalid IP range "10.0.0.1..10.0.0.2..10.0.0.3"'],
  ] as const)
    it(`is refused for ${ip}`, () => {
      const spec = normalise('10.0.0.5', ip);
      expect('problems' in spec && spec.problems.join()).to.contain(message);
    });

  it('is refused without addresses', () => {
    expect(normalise()).to.have.property('problems');
  });
});
