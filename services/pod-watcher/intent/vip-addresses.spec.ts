import { expect } from 'chai';
import { type VipObject, vips } from '../kubernetes/kept-objects.ts';
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
    const addresses = new VipAddresses(new Map());
    addresses.snapshot({
      ...nothing,
      reservations: [reserved('vip/web', 'fd00::9'), reserved('pod/a/b/c', '10.0.0.8')],
    });
    expect(addresses.of('web')).to.deep.equal({ subnet: 'lan', addresses: ['fd00::9'], namespace: '' });
    addresses.facts([{ kind: 'reserved', reserved: reserved('vip/web', '10.0.0.9') }]);
    expect(addresses.of('web')).to.deep.equal({ subnet: 'lan', addresses: ['10.0.0.9', 'fd00::9'], namespace: '' });
    expect(addresses.of('other')).to.equal(undefined);
  });

  it('come with the namespace that the object names, as it is now', () => {
    const objects = new Map<string, VipObject>();
    const known = new VipAddresses(objects);
    known.facts([{ kind: 'reserved', reserved: reserved('vip/web', '10.0.0.9') }]);
    objects.set('web', vips.parse({ metadata: { name: 'web', uid: 'u' }, spec: { subnet: 'lan', namespace: 'shop' } }));
    expect(known.of('web')).to.include({ namespace: 'shop' });
  });

  it('are none once the reservations are cancelled', () => {
    const addresses = new VipAddresses(new Map());
    addresses.facts([{ kind: 'reserved', reserved: reserved('vip/web', '10.0.0.9') }]);
    addresses.facts([{ kind: 'unreserved', subnet: 'lan', address: '10.0.0.9', reservedFor: 'vip/web' }]);
    expect(addresses.of('web')).to.equal(undefined);
    addresses.facts([{ kind: 'reserved', reserved: reserved('vip/web', '10.0.0.9') }]);
    addresses.snapshot({ ...nothing, reservations: [] });
    expect(addresses.of('web')).to.equal(undefined);
  });
});
