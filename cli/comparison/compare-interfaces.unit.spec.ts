import { expect } from 'chai';
import type { Pod } from '../cluster/cluster-state.ts';
import { podWithAnnotations, describeDisagreements } from './testing/check-input.fixture.ts';

describe('The interfaces of a running Pod', () => {
  const running = (ips: readonly string[], name = 'default/lan'): Pod =>
    podWithAnnotations({
      'k8s.v1.cni.cncf.io/network-status': JSON.stringify([
        { name: 'cbr0', ips: ['10.244.0.9'], default: true },
        { name, interface: 'net1', ips, mac: '02:00:00:00:00:0a' },
      ]),
    });

  it('The interfaces of a running Pod have the allocated address, and any address of other networks', () => {
    expect(describeDisagreements({ pods: [running(['10.0.0.2'])] })).to.deep.equal([]);
    expect(describeDisagreements({ pods: [running(['10.9.9.9'], 'default/other')] })).to.deep.equal([]);
  });

  it('The interfaces of a running Pod are reported with another address', () => {
    expect(describeDisagreements({ pods: [running(['10.0.0.77'])] })).to.deep.equal([
      'other address in use: Pod default/web: its net1 has 10.0.0.77; the ledger has 10.0.0.2',
    ]);
    expect(describeDisagreements({ pods: [{ ...running(['10.0.0.77']), phase: 'Pending' }] })).to.deep.equal([]);
  });

  it('The interfaces of a running Pod are ignored if their status is invalid', () => {
    expect(
      describeDisagreements({ pods: [podWithAnnotations({ 'k8s.v1.cni.cncf.io/network-status': '{"name"' })] }),
    ).to.deep.equal([]);
  });
});
