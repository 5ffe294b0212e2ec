import { expect } from 'chai';
import { type AddressForms, proposeForm } from './address-form.ts';

describe('the proposed form of an address', () => {
  const cases: [text: string, takes: AddressForms, proposal: string][] = [
    ['10.0.0.1-10.0.0.9', 'range', ': write "10.0.0.1..10.0.0.9"'],
    [' 10.0.0.1 - 10.0.0.9 ', 'range or CIDR', ': write "10.0.0.1..10.0.0.9"'],
    ['fd00::1-fd00::9', 'range', ': write "fd00::1..fd00::9"'],
    ['10.0.0.1-10.0.0.9', 'address', ': it is a range: name single addresses'],
    ['10.0.0.1..10.0.0.9', 'address', ': it is a range: name single addresses'],
    ['10.0.0.8/29', 'range', ': write "10.0.0.8..10.0.0.15"'],
    ['fd00::/120', 'range', ': write "fd00::..fd00::ff"'],
    ['10.0.0.9/29', 'address', ': write it without a mask, "10.0.0.9"'],
    ['10.0.0.9/32', 'range', ': write it without a mask, "10.0.0.9"'],
    ['fe80::1%eth0', 'address', ': write it without the zone, "fe80::1"'],
    ['010.000.0.01', 'address', ': write it without leading zeros, "10.0.0.1"'],
    ['::ffff:10.0.0.1', 'address', ': write the IPv4 address, "10.0.0.1"'],
  ];
  for (const [text, takes, proposal] of cases)
    it(`The proposed form of an address corrects ${JSON.stringify(text)} for a field that takes ${takes}`, () =>
      expect(proposeForm(text, takes)).to.equal(proposal));

  it('proposeForm returns nothing for a text that resembles no address', () => {
    const texts = [
      '',
      'web',
      '10.0.0.300',
      '010.0.0.300',
      'web%eth0',
      '10.0.0.1-',
      '1-2-3',
      '10.0.0.1/33',
      '::ffff:zz',
    ];
    for (const text of [...texts, '-'.repeat(1_000)]) expect(proposeForm(text, 'range')).to.equal('');
  });
});
