import { expect } from 'chai';
import type { Pod } from './picture.ts';
import { showing, told } from './picture.fixture.ts';

describe('checking what runs', () => {
  const running = (ips: readonly string[], name = 'default/lan'): Pod =>
    showing({
      'k8s.v1.cni.cncf.io/network-status': JSON.stringify([
        { name: 'cbr0', ips: ['10.244.0.9'], default: true },
        { name, interface: 'net1', ips, mac: '02:00:00:00:00:0a' },
      ]),
    });

  it('has the address that it was given, and others of other networks', () => {
    expect(told({ pods: [running(['10.0.0.2'])] })).to.deep.equal([]);
    expect(told({ pods: [running(['10.9.9.9'], 'default/other')] })).to.deep.equal([]);
  });

  it('and has another one is told', () => {
    expect(told({ pods: [running(['10.0.0.77'])] })).to.deep.equal([
      'other address in use: Pod default/web: its net1 has 10.0.0.77; the ledger says 10.0.0.2',
    ]);
    expect(told({ pods: [{ ...running(['10.0.0.77']), phase: 'Pending' }] })).to.deep.equal([]);
  });

  it('and says it in no way that can be read is left alone', () => {
    expect(told({ pods: [showing({ 'k8s.v1.cni.cncf.io/network-status': '{"name"' })] })).to.deep.equal([]);
  });
});
