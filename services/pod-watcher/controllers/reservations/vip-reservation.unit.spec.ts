import { expect } from 'chai';
import { vips } from '../../kubernetes/objects/vip.ts';
import { appliedVipFields, desiredVipReservation, vipDifferences } from './vip-reservation.ts';

const vip = (spec: object, { labels = {}, status = {} }: { labels?: object; status?: object } = {}) =>
  vips.parse({ metadata: { name: 'web', uid: 'u', labels }, spec: { subnet: 'lan', ...spec }, status });
const addresses = ['10.0.0.9', 'fd00::9'];
const shown = { v4ip: '10.0.0.9', v6ip: 'fd00::9' };
const labels = { 'ovn.kubernetes.io/subnet': 'lan', 'ovn.kubernetes.io/ip_reserved': '' };

describe('the reservation of a Vip', () => {
  it('the reservation of a Vip is for the addresses, MAC and namespace of its spec', () => {
    const spec = { v4ip: '10.0.0.9', v6ip: 'fd00::9', macAddress: '02:00:00:00:00:01', namespace: 'shop' };
    expect(desiredVipReservation(vip(spec))).to.deep.equal({
      subnet: 'lan',
      mac: '02:00:00:00:00:01',
      reservedFor: 'vip/web',
      addresses,
      namespace: 'shop',
    });
  });

  it('the reservation of a Vip is shown in its spec, status and labels, without a label for a name over 63 characters', () => {
    const object = vip({ macAddress: '02:00:00:00:00:01' });
    const status = { ...shown, mac: '02:00:00:00:00:01', type: '' };
    expect(appliedVipFields(object, addresses)).to.deep.equal({ labels, spec: shown, status });
    const labelsOf = (subnet: string): unknown => appliedVipFields(vip({ subnet }), addresses)['labels'];
    expect(labelsOf('s'.repeat(63))).to.include({ 'ovn.kubernetes.io/subnet': 's'.repeat(63) });
    expect(labelsOf('s'.repeat(64))).to.deep.equal({ 'ovn.kubernetes.io/ip_reserved': '' });
  });

  it('the reservation of a Vip is written only where it differs, and keeps labels that another program has changed', () => {
    const desired = appliedVipFields(vip({}), addresses);
    const changed = { ...labels, 'ovn.kubernetes.io/ip_reserved': 'by-another' };
    expect(vipDifferences(vip(shown, { labels: changed, status: shown }), desired)).to.deep.equal({});
    expect(vipDifferences(vip(shown, { labels: {}, status: shown }), desired)).to.deep.equal({ labels });
    const one = { ...shown, v6ip: 'fd00::8' };
    expect(vipDifferences(vip(one, { labels, status: one }), desired)).to.deep.equal({
      spec: { v6ip: 'fd00::9' },
      status: { v6ip: 'fd00::9' },
    });
  });
});
