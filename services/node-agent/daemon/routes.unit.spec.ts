import { expect } from 'chai';
import { defaultRouteFamily, findRouteFault } from './cni-response.ts';

describe('Route', () => {
  it('Route may omit dst or gw, and may have host bits', () => {
    for (const route of [
      { dst: '', gw: '10.0.0.1' },
      { dst: '10.0.0.7/8', gw: '' },
      { dst: '::/0', gw: 'fd00::1' },
      { dst: '', gw: '' },
    ])
      expect(findRouteFault(route), JSON.stringify(route)).to.equal(undefined);
  });

  it('Route is invalid if dst is not a CIDR or gw is not an address', () => {
    for (const dst of [
      '10.0.0.0',
      '10.0.0.0/33',
      '10.0.0/8',
      'fd00::/129',
      '10.0.0.0/8/8',
      '10.0.0.0/',
      'fe80::1%eth0/64',
    ])
      expect(findRouteFault({ dst, gw: '' }), dst).to.equal(`dst "${dst}" is not a CIDR`);
    for (const gw of ['here', '10.0.0.1/8', '010.0.0.1', 'fe80::1%eth0'])
      expect(findRouteFault({ dst: '', gw }), gw).to.equal(`gw "${gw}" is not an IP address`);
  });

  it('Route is a default route without dst, or with a prefix length of 0', () => {
    expect(defaultRouteFamily({ dst: '', gw: '10.0.0.1' })).to.equal(4);
    expect(defaultRouteFamily({ dst: '', gw: 'fd00::1' })).to.equal(6);
    expect(defaultRouteFamily({ dst: '0.0.0.0/0', gw: '' })).to.equal(4);
    expect(defaultRouteFamily({ dst: '::/0', gw: '' })).to.equal(6);
    expect(defaultRouteFamily({ dst: '10.0.0.0/8', gw: '10.0.0.1' })).to.equal(undefined);
    expect(defaultRouteFamily({ dst: '10.0.0.0/30', gw: '' })).to.equal(undefined);
  });
});
