import { expect } from 'chai';
import { noConstraints, parseMac, parsePool, validateRate, parseRoutes, parseAddresses } from './annotation-values.ts';

const key = 'm.d.kubernetes.io/ip_pool';
const sets = (...each: string[][]) => ({
  ok: true,
  value: { kind: 'list', sets: each.map((addresses) => ({ addresses })) },
});

describe('an ip_address annotation', () => {
  const parse = (texts: string[], allowsPrefixLength = false) =>
    parseAddresses(
      texts,
      { key: 'm.d.kubernetes.io/ip_address', label: 'ip_address annotation', allowsPrefixLength },
      noConstraints,
    );

  it('an ip_address annotation has one address, or one per family, IPv4 first', () => {
    expect(parse(['fd00::1', ' 10.0.0.1'])).to.deep.equal({ ok: true, value: { addresses: ['10.0.0.1', 'fd00::1'] } });
    expect(parse(['10.0.0.1', '10.0.0.2'])).to.have.property(
      'problem',
      'multiple IPv4 addresses in ip_address annotation "10.0.0.1,10.0.0.2": m.d.kubernetes.io/ip_address takes one of each family',
    );
    expect(parse(['10.0.0.1', 'fd00::1', 'fd00::2']))
      .to.have.property('problem')
      .that.contains('multiple IPv6');
  });

  it('an address in the ips of a network may have a prefix length, which is ignored', () => {
    expect(parse(['10.0.0.1/24', 'FD00::1/64'], true)).to.deep.equal({
      ok: true,
      value: { addresses: ['10.0.0.1', 'fd00::1'] },
    });
    expect(parse(['10.0.0.1/33'], true))
      .to.have.property('problem')
      .that.contains('10.0.0.1/33 is not a valid');
    expect(parse(['10.0.0.1/24']))
      .to.have.property('problem')
      .that.contains('failed to parse IP 10.0.0.1/24');
  });
});

describe('an ip_pool annotation', () => {
  it('an ip_pool annotation may be a list of addresses', () => {
    expect(parsePool('172.17.0.200, 172.17.0.201,172.17.0.202', key)).to.deep.equal(
      sets(['172.17.0.200'], ['172.17.0.201'], ['172.17.0.202']),
    );
    expect(parsePool('10.0.0.1', key)).to.deep.equal(sets(['10.0.0.1']));
    expect(parsePool('10.0.0.1,10.0.0.2', key)).to.deep.equal(sets(['10.0.0.1'], ['10.0.0.2']));
  });

  it('an ip_pool annotation is one pair if it consists of exactly two addresses of different families', () => {
    expect(parsePool('10.0.0.10,fd00::10', key)).to.deep.equal(sets(['10.0.0.10', 'fd00::10']));
  });

  it('an ip_pool annotation with semicolons is a list of addresses and pairs', () => {
    expect(parsePool('10.0.0.10,fd00::10; 10.0.0.11,fd00::11', key)).to.deep.equal(
      sets(['10.0.0.10', 'fd00::10'], ['10.0.0.11', 'fd00::11']),
    );
    expect(parsePool('10.0.0.10;10.0.0.11', key)).to.deep.equal(sets(['10.0.0.10'], ['10.0.0.11']));
  });

  it('an ip_pool annotation names an IPPool if it is a single word', () => {
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
    [
      '10.0.0.1-10.0.0.9',
      `10.0.0.1-10.0.0.9 in ${key} is not a valid address: write "10.0.0.1..10.0.0.9", in the spec.ips of an IPPool, and name the IPPool`,
    ],
    ['10.0.0.1..10.0.0.9', ': write "10.0.0.1..10.0.0.9", in the spec.ips of an IPPool'],
    ['10.0.0.0/29', ': write "10.0.0.0..10.0.0.7", in the spec.ips of an IPPool'],
    ['::ffff:10.0.0.1;fd00::1', ': write the IPv4 address, "10.0.0.1"'],
    ['pool/1', `pool/1 in ${key} is not a valid address`],
    ['', 'is empty'],
  ];
  for (const [value, sentence] of malformed)
    it(`an ip_pool annotation is rejected with value ${JSON.stringify(value)}`, () =>
      expect(parsePool(value, key)).to.have.property('problem').that.contains(sentence));
});

describe('an annotation about MAC, bandwidth or routes', () => {
  it('a MAC annotation has six octets in the forms that Go accepts', () => {
    for (const text of ['00:00:00:53:6B:BB', ' 00-00-00-53-6b-bb ', '0000.0053.6BBB'])
      expect(parseMac(text, 'k'), text).to.deep.equal({ ok: true, value: '00:00:00:53:6b:bb' });
    for (const text of ['00:00:54:17:2A', '01:00:5e:00:00:01', '00:00-00:53:6b:bb'])
      expect(parseMac(text, 'k'))
        .to.have.property('problem')
        .that.contains(`${text} is not a valid k: write six octets of a unicast MAC`);
  });

  it('a bandwidth annotation is a number', () => {
    for (const rate of ['3', '0', '2.5']) expect(validateRate(rate, 'k'), rate).to.have.property('ok', true);
    expect(validateRate('3M', 'k')).to.have.property('problem', '3M is not a valid k: must be a number');
  });

  it('a routes annotation is read as Go does: names in any letter case, null as absent', () => {
    expect(parseRoutes('[{"DST":"10.1.0.0/16","gw":null},{"dst":null,"Gw":"10.0.0.1"}]')).to.deep.equal({
      ok: true,
      value: [
        { dst: '10.1.0.0/16', gw: '' },
        { dst: '', gw: '10.0.0.1' },
      ],
    });
  });

  it('a routes annotation may have routes with and without a destination', () => {
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
    ['{"gw":"10.0.0.1"}', 'must be a JSON array'],
    ['[{}]', 'route 0 has neither dst nor gw'],
    ['[{"dst":"10.0.0.0/24"},{"dst":"10.0.0.1","gw":"10.0.0.2"}]', 'dst "10.0.0.1" of route 1 is not a CIDR'],
    ['[{"dst":"10.0.0.0/33","gw":"10.0.0.2"}]', 'is not a CIDR'],
    ['[{"gw":"10.0.0"}]', 'gw "10.0.0" of route 0 is not an address'],
  ];
  for (const [value, sentence] of malformed)
    it(`a routes annotation is rejected with value ${value}`, () =>
      expect(parseRoutes(value)).to.have.property('problem').that.contains(sentence));
});
