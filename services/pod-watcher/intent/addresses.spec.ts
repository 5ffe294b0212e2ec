import { expect } from 'chai';
import { canonical, noLimits, parseMac, parsePool, parseRate, parseRoutes, readAddresses } from './addresses.ts';

const key = 'm.d.kubernetes.io/ip_pool';
const sets = (...each: string[][]) => ({
  ok: true,
  value: { kind: 'list', sets: each.map((addresses) => ({ addresses })) },
});

describe('addresses as people write them', () => {
  it('are taken as they are meant, or not at all', () => {
    expect(canonical('10.0.0.1')).to.equal('10.0.0.1');
    expect(canonical('FD00:0::0001')).to.equal('fd00::1');
    for (const text of ['1', '010.0.0.1', '0x7f.1', '10.0.0.1/24', 'fe80::1%eth0', 'not-an-ip', '', ' 10.0.0.1'])
      expect(canonical(text), text).to.equal(undefined);
  });

  const read = (texts: string[], masks = false) =>
    readAddresses(texts, { key: 'm.d.kubernetes.io/ip_address', what: 'ip_address annotation', masks }, noLimits);

  it('are one, or one of each family, IPv4 first', () => {
    expect(read(['fd00::1', ' 10.0.0.1'])).to.deep.equal({ ok: true, value: { addresses: ['10.0.0.1', 'fd00::1'] } });
    expect(read(['10.0.0.1', '10.0.0.2'])).to.have.property(
      'problem',
      'multiple IPv4 addresses in ip_address annotation "10.0.0.1,10.0.0.2": m.d.kubernetes.io/ip_address takes one of each family',
    );
    expect(read(['10.0.0.1', 'fd00::1', 'fd00::2']))
      .to.have.property('problem')
      .that.contains('multiple IPv6');
  });

  it('may have a prefix length where that is usual, which is left out', () => {
    expect(read(['10.0.0.1/24', 'FD00::1/64'], true)).to.deep.equal({
      ok: true,
      value: { addresses: ['10.0.0.1', 'fd00::1'] },
    });
    expect(read(['10.0.0.1/33'], true))
      .to.have.property('problem')
      .that.contains('10.0.0.1/33 is not a valid');
    expect(read(['10.0.0.1/24']))
      .to.have.property('problem')
      .that.contains('failed to parse IP 10.0.0.1/24');
  });
});

describe('the annotation ip_pool', () => {
  it('is a list of addresses', () => {
    expect(parsePool('172.17.0.200, 172.17.0.201,172.17.0.202', key)).to.deep.equal(
      sets(['172.17.0.200'], ['172.17.0.201'], ['172.17.0.202']),
    );
    expect(parsePool('10.0.0.1', key)).to.deep.equal(sets(['10.0.0.1']));
    expect(parsePool('10.0.0.1,10.0.0.2', key)).to.deep.equal(sets(['10.0.0.1'], ['10.0.0.2']));
  });

  it('reads exactly two addresses of different families as one pair', () => {
    expect(parsePool('10.0.0.10,fd00::10', key)).to.deep.equal(sets(['10.0.0.10', 'fd00::10']));
  });

  it('has pairs between semicolons', () => {
    expect(parsePool('10.0.0.10,fd00::10; 10.0.0.11,fd00::11', key)).to.deep.equal(
      sets(['10.0.0.10', 'fd00::10'], ['10.0.0.11', 'fd00::11']),
    );
    expect(parsePool('10.0.0.10;10.0.0.11', key)).to.deep.equal(sets(['10.0.0.10'], ['10.0.0.11']));
  });

  it('names an IPPool with a single word', () => {
    expect(parsePool(' pool-1 ', key)).to.deep.equal({ ok: true, value: { kind: 'named', pool: 'pool-1' } });
  });

  const malformed: [value: string, sentence: string][] = [
    ['10.16.1111.15,10.16.0.16', `10.16.1111.15 in ${key} is not a valid address`],
    ['10.16.1111.15', `10.16.1111.15 in ${key} is not a valid address`],
    ['10.0.0.1/24', `10.0.0.1/24 in ${key} is not a valid address`],
    ['10.0.0.1,', `an empty element in ${key} is not a valid address`],
    ['pool-1,pool-2', `pool-1 in ${key} is not a valid address`],
    ['10.0.0.1,10.0.0.2;10.0.0.3', `multiple IPv4 addresses in "10.0.0.1,10.0.0.2": an entry of ${key} takes one`],
    ['10.0.0.1,fd00::1;x', `x in ${key} is not a valid address`],
    ['10.0.0.1;', `an empty element in ${key} is not a valid address`],
    ['pool/1', `pool/1 in ${key} is not a valid address`],
    ['', 'is empty'],
  ];
  for (const [value, sentence] of malformed)
    it(`refuses ${JSON.stringify(value)}`, () =>
      expect(parsePool(value, key)).to.have.property('problem').that.contains(sentence));
});

describe('MACs and routes', () => {
  it('takes six octets with colons, and keeps how they are written', () => {
    expect(parseMac('00:00:00:53:6B:BB', 'k')).to.deep.equal({ ok: true, value: '00:00:00:53:6B:BB' });
    expect(parseMac('00:00:54:17:2A', 'k')).to.have.property('problem', '00:00:54:17:2A is not a valid k');
  });

  it('takes bandwidths that are numbers', () => {
    for (const rate of ['3', '0', '2.5']) expect(parseRate(rate, 'k'), rate).to.have.property('ok', true);
    expect(parseRate('3M', 'k')).to.have.property('problem', '3M is not a valid k: want a number');
  });

  it('takes routes with and without destination', () => {
    const value = '[{"dst": "192.168.0.101/24", "gw": "172.17.0.254"}, {"gw": "172.17.0.254"}]';
    expect(parseRoutes(value)).to.deep.equal({
      ok: true,
      value: [
        { dst: '192.168.0.101/24', gw: '172.17.0.254' },
        { dst: '', gw: '172.17.0.254' },
      ],
    });
  });

  const malformed: [value: string, sentence: string][] = [
    ['[{', 'JSON'],
    ['{"gw":"10.0.0.1"}', 'want a JSON array'],
    ['[{}]', 'route 0 has neither dst nor gw'],
    ['[{"dst":"10.0.0.0/24"},{"dst":"10.0.0.1","gw":"10.0.0.2"}]', 'dst "10.0.0.1" of route 1 is not a CIDR'],
    ['[{"dst":"10.0.0.0/33","gw":"10.0.0.2"}]', 'is not a CIDR'],
    ['[{"gw":"10.0.0"}]', 'gw "10.0.0" of route 0 is not an address'],
  ];
  for (const [value, sentence] of malformed)
    it(`refuses the routes ${value}`, () =>
      expect(parseRoutes(value)).to.have.property('problem').that.contains(sentence));
});
