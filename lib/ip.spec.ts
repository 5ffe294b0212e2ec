import { expect } from 'chai';
import { isAddress, isCidr } from './ip.ts';

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
});
