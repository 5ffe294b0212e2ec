import { expect } from 'chai';
import { describeDisagreements, ip, reservedRecord as reserved } from './testing/check-input.fixture.ts';

describe('Reservations', () => {
  const vip = { name: 'front', subnet: 'lan', addresses: ['10.0.0.50'] };

  it('Reservations exist for each address of a Vip', () => {
    const own = reserved('vip/front', 'Vip object front');
    expect(describeDisagreements({ vips: [vip], reservations: [own] })).to.deep.equal([]);
    expect(describeDisagreements({ vips: [vip] })).to.deep.equal([
      'Vip: Vip front: its status has 10.0.0.50 of subnet lan, which is not reserved',
    ]);
    expect(
      describeDisagreements({ vips: [vip], reservations: [reserved('vip/back', 'by an operator')] }),
    ).to.deep.equal(['Vip: Vip front: its status has 10.0.0.50 of subnet lan, which is reserved for vip/back']);
  });

  it('Reservations are reported without their Vip if the pod-watcher made them, and not if an operator did', () => {
    expect(describeDisagreements({ reservations: [reserved('vip/front', 'for the front')] })).to.deep.equal([]);
    expect(describeDisagreements({ reservations: [reserved('vip/front', 'Vip object front')] })).to.deep.equal([
      'reservation: 10.0.0.50 of subnet lan: it is reserved for vip/front, and there is no such Vip',
    ]);
  });

  it('Reservations explain an IP object without allocation', () => {
    const spec = { podName: 'soon', namespace: 'default', subnet: 'lan', ipAddress: '10.0.0.50' };
    const made = { name: 'soon.default.lan.default', allocation: '', spec };
    const own = reserved('pod/default/soon/lan.default', 'IP object soon.default.lan.default');
    expect(describeDisagreements({ ips: [ip, made], reservations: [own] })).to.deep.equal([]);
    expect(describeDisagreements({ ips: [ip, made] })[0]).to.match(/^IP object without allocation: /);
  });
});
