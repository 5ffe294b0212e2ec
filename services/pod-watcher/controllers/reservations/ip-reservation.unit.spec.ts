import { expect } from 'chai';
import { ips } from '../../kubernetes/objects/ip.ts';
import { appliedIpFields, desiredIpReservation, ipReservationDifferences, isIpReservation } from './ip-reservation.ts';

const name = 'db.shop.lan.default';
const pod = { podName: 'db', namespace: 'shop', subnet: 'lan' };
const ip = (spec: object = {}, metadata: object = {}) =>
  ips.parse({ metadata: { name, uid: 'u', ...metadata }, spec: { ...pod, ...spec } });
const desired = (object: ReturnType<typeof ip>) => desiredIpReservation(object, () => 'lan.default');
const labels = { 'ovn.kubernetes.io/subnet': 'lan', lan: '', 'ovn.kubernetes.io/ip_reserved': 'true' };

describe('the reservation of an IP object', () => {
  it('the reservation of an IP object is made by a user: not for an allocation, and not with a finalizer of Kube-OVN', () => {
    const allocation = { annotations: { 'ipledger.io/allocation': '7' } };
    expect(isIpReservation(ip())).to.equal(true);
    expect(isIpReservation(ip({}, { finalizers: ['ipledger.io/ledger'] }))).to.equal(true);
    expect(isIpReservation(ip({}, { finalizers: ['ipledger.io/ledger'], ...allocation }))).to.equal(true);
    expect(isIpReservation(ip({}, allocation))).to.equal(false);
    expect(isIpReservation(ip({}, { finalizers: ['kubeovn.io/kube-ovn-controller'] }))).to.equal(false);
  });

  it('the reservation of an IP object is for the addresses of both families without blanks, or for those in ipAddress', () => {
    const both = ip({
      v4IpAddress: ' 10.0.0.9 ',
      v6IpAddress: 'fd00::9',
      ipAddress: '10.0.0.1',
      macAddress: ' 02:00:00:00:00:01',
    });
    expect(desired(both)).to.deep.equal({
      subnet: 'lan',
      addresses: ['10.0.0.9', 'fd00::9'],
      reservedFor: 'pod/shop/db/lan.default',
      mac: '02:00:00:00:00:01',
      namespace: 'shop',
      isCompleted: true,
    });
    expect(desired(ip({ ipAddress: '10.0.0.9, fd00::9,' }))?.addresses).to.deep.equal(['10.0.0.9', 'fd00::9']);
    expect(desired(ip())?.addresses).to.deep.equal([]);
    expect(desired(ip({ podType: 'StatefulSet' }))?.addresses).to.deep.equal([]);
  });

  it('the reservation of an IP object needs the name of its Pod’s IP object, and a Pod and a namespace', () => {
    expect(desired(ip({ podName: 'other' }))).to.equal(undefined);
    expect(desired(ip({ podName: '' }, { name: '.shop.lan.default' }))).to.equal(undefined);
    expect(desired(ip({ namespace: '' }, { name: 'db..lan.default' }))).to.equal(undefined);
  });

  it('the reservation of an IP object is written only where it differs', () => {
    const shown = { v4IpAddress: '10.0.0.9', v6IpAddress: '', ipAddress: '10.0.0.9' };
    const fields = appliedIpFields(ip(), ['10.0.0.9']);
    expect(fields).to.deep.equal(shown);
    expect(ipReservationDifferences(ip(shown, { labels }), fields)).to.deep.equal({});
    const one = { ...labels, 'ovn.kubernetes.io/ip_reserved': '' };
    expect(ipReservationDifferences(ip({ ...shown, ipAddress: '' }, { labels: one }), fields)).to.deep.equal({
      labels: { 'ovn.kubernetes.io/ip_reserved': 'true' },
      spec: { ipAddress: '10.0.0.9' },
    });
  });

  it('the reservation of an IP object has no label for a Subnet whose name is over 63 characters', () => {
    const labelsOf = (subnet: string) => ipReservationDifferences(ip({ subnet }), {}).labels;
    const longest = 's'.repeat(63);
    expect(labelsOf(longest)).to.include({ 'ovn.kubernetes.io/subnet': longest, [longest]: '' });
    expect(labelsOf('s'.repeat(64))).to.deep.equal({ 'ovn.kubernetes.io/ip_reserved': 'true' });
  });
});
