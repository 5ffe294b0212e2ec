import { expect } from 'chai';
import type { AddressRecord } from '../../proto/ipledger.ts';
import { ip, told } from './picture.fixture.ts';

describe('checking reservations', () => {
  const reserved = (reservedFor: string, reason: string): AddressRecord => ({
    subnet: 'lan',
    address: '10.0.0.50',
    state: 'reserved',
    bindings: [],
    releasedAt: '',
    releasedFromUid: '',
    lastSeq: 20,
    availableAt: '',
    pool: '',
    reservation: { reservedFor, reason, mac: '', seq: 20, at: '2026-01-31T08:00:00.000Z' },
  });
  const vip = { name: 'front', subnet: 'lan', addresses: ['10.0.0.50'] };

  it('stand for each address that a Vip shows', () => {
    const own = reserved('vip/front', 'Vip object front');
    expect(told({ vips: [vip], reservations: [own] })).to.deep.equal([]);
    expect(told({ vips: [vip] })).to.deep.equal([
      'Vip: Vip front: it shows 10.0.0.50 of subnet lan, which is reserved for nobody',
    ]);
    expect(told({ vips: [vip], reservations: [reserved('vip/back', 'by hand')] })).to.deep.equal([
      'Vip: Vip front: it shows 10.0.0.50 of subnet lan, which is reserved for vip/back',
    ]);
  });

  it('that were made for a Vip end with it; those of operators need none', () => {
    expect(told({ reservations: [reserved('vip/front', 'for the front')] })).to.deep.equal([]);
    expect(told({ reservations: [reserved('vip/front', 'Vip object front')] })).to.deep.equal([
      'reservation: 10.0.0.50 of subnet lan: it is reserved for vip/front, and there is no such Vip',
    ]);
  });

  it('are what an IP object is for that somebody made to hold an address', () => {
    const spec = { subnet: 'lan', ipAddress: '10.0.0.50' };
    const made = { name: 'soon.default.lan.default', allocation: '', spec };
    const own = reserved('pod/default/soon/lan.default', 'IP object soon.default.lan.default');
    expect(told({ ips: [ip, made], reservations: [own] })).to.deep.equal([]);
    expect(told({ ips: [ip, made] })[0]).to.match(/^IP object superfluous: /);
  });
});
