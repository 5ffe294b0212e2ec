import { expect } from 'chai';
import { cidrHas, isAddress, isCidr } from './ip.ts';

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

describe('What users write', () => {
  it('is an address without mask and zone', () => {
    expect(texts.filter(isAddress)).to.deep.equal(['10.0.0.1', 'fd00::1']);
  });

  it('is a CIDR, host bits or not, with a length that its family has', () => {
    expect(texts.filter(isCidr)).to.deep.equal(['10.0.0.1/24', 'fd00::/64']);
  });

  it('is inside a CIDR, or not', () => {
    const inside = (cidr: string) => ['10.0.0.7', '10.0.1.7', 'fd00::7', 'a'].filter((text) => cidrHas(cidr, text));
    expect(inside('10.0.0.9/24')).to.deep.equal(['10.0.0.7']);
    expect(inside('fd00::/64')).to.deep.equal(['fd00::7']);
    for (const cidr of ['10.0.0.0', '10.0.0.0/33', '']) expect(inside(cidr)).to.deep.equal([]);
  });
});
