import { expect } from 'chai';
import { type VipObject, vips } from '../../kubernetes/objects/vip.ts';
import type { ReservedAddress } from '../../ledger/ledger-events.ts';
import { VipAddressCache } from './vip-address-cache.ts';

const reserved = (reservedFor: string, address: string, subnet = 'lan'): ReservedAddress => ({
  seq: 1,
  subnet,
  address,
  reservedFor,
  reason: '',
  mac: '',
});

const nothing = { seq: 1, allocations: [], subnets: [], pools: [] };

describe('the addresses of a Vip', () => {
  it('the addresses of a Vip are those that the ledger has reserved for it, IPv4 first', () => {
    const addresses = new VipAddressCache(new Map());
    addresses.onSnapshot({
      ...nothing,
      reservations: [reserved('vip/web', 'fd00::9'), reserved('pod/a/b/c', '10.0.0.8')],
    });
    expect(addresses.get('web')).to.deep.equal({ subnet: 'lan', addresses: ['fd00::9'], namespace: '' });
    addresses.onEvents([{ kind: 'reserved', reserved: reserved('vip/web', '10.0.0.9') }]);
    expect(addresses.get('web')).to.deep.equal({ subnet: 'lan', addresses: ['10.0.0.9', 'fd00::9'], namespace: '' });
    expect(addresses.get('other')).to.equal(undefined);
  });

  it('the addresses of a Vip have the current namespace of its object', () => {
    const objects = new Map<string, VipObject>();
    const cache = new VipAddressCache(objects);
    cache.onEvents([{ kind: 'reserved', reserved: reserved('vip/web', '10.0.0.9') }]);
    objects.set('web', vips.parse({ metadata: { name: 'web', uid: 'u' }, spec: { subnet: 'lan', namespace: 'shop' } }));
    expect(cache.get('web')).to.include({ namespace: 'shop' });
  });

  it('a Vip has no addresses after its reservations are cancelled', () => {
    const addresses = new VipAddressCache(new Map());
    addresses.onEvents([{ kind: 'reserved', reserved: reserved('vip/web', '10.0.0.9') }]);
    addresses.onEvents([{ kind: 'unreserved', subnet: 'lan', address: '10.0.0.9', reservedFor: 'vip/web' }]);
    expect(addresses.get('web')).to.equal(undefined);
    addresses.onEvents([{ kind: 'reserved', reserved: reserved('vip/web', '10.0.0.9') }]);
    addresses.onSnapshot({ ...nothing, reservations: [] });
    expect(addresses.get('web')).to.equal(undefined);
  });
});
