import { expect } from 'chai';
import type { Reserved } from '../ledger/facts.ts';
import { VipAddresses } from './vip-addresses.ts';

const reserved = (reservedFor: string, address: string, subnet = 'lan'): Reserved => ({
  seq: 1,
  subnet,
  address,
  reservedFor,
  reason: '',
  mac: '',
});

const nothing = { seq: 1, holdings: [], subnets: [], pools: [] };

describe('the addresses of Vips', () => {
  it('are those that the ledger has reserved for them, IPv4 first', () => {
    const vips = new VipAddresses();
    vips.snapshot({ ...nothing, reservations: [reserved('vip/web', 'fd00::9'), reserved('pod/a/b/c', '10.0.0.8')] });
    expect(vips.of('web')).to.deep.equal({ subnet: 'lan', addresses: ['fd00::9'] });
    vips.facts([{ kind: 'reserved', reserved: reserved('vip/web', '10.0.0.9') }]);
    expect(vips.of('web')).to.deep.equal({ subnet: 'lan', addresses: ['10.0.0.9', 'fd00::9'] });
    expect(vips.of('other')).to.equal(undefined);
  });

  it('are none once the reservations are cancelled', () => {
    const vips = new VipAddresses();
    vips.facts([{ kind: 'reserved', reserved: reserved('vip/web', '10.0.0.9') }]);
    vips.facts([{ kind: 'unreserved', subnet: 'lan', address: '10.0.0.9', reservedFor: 'vip/web' }]);
    expect(vips.of('web')).to.equal(undefined);
    vips.facts([{ kind: 'reserved', reserved: reserved('vip/web', '10.0.0.9') }]);
    vips.snapshot({ ...nothing, reservations: [] });
    expect(vips.of('web')).to.equal(undefined);
  });
});
