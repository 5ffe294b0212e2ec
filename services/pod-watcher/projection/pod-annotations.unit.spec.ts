import { expect } from 'chai';
import { heldAllocation, launcher, podNamed } from '../testing/fakes.ts';
import { podPatch } from './pod-annotations.ts';

const never = (): boolean => false;
const key = (suffix: string) => `macvlan.default.kubernetes.io/${suffix}`;
const complete = {
  [key('ip_address')]: '10.0.0.2',
  [key('cidr')]: '10.0.0.0/24',
  [key('gateway')]: '10.0.0.1',
  [key('allocated')]: 'true',
};
const annotations = (patch: ReturnType<typeof podPatch>) => patch?.metadata.annotations;

describe('Pod annotations of allocations', () => {
  it('are written in one patch for the uid of the Pod', () => {
    expect(podPatch(podNamed('a'), [heldAllocation('a')], never)).to.deep.equal({
      metadata: { uid: 'uid-a', annotations: complete },
    });
  });

  it('are not written when they are up to date', () => {
    expect(podPatch(podNamed('a', { annotations: complete }), [heldAllocation('a')], never)).to.equal(undefined);
  });

  it('are restored where they were changed, and only there', () => {
    const changed = podNamed('a', { annotations: { ...complete, [key('ip_address')]: '9.9.9.9' } });
    expect(annotations(podPatch(changed, [heldAllocation('a')], never))).to.deep.equal({
      [key('ip_address')]: '10.0.0.2',
    });
  });

  it('join both families, IPv4 first', () => {
    const dual = heldAllocation('a', {
      addresses: [
        { address: '10.0.0.2', cidr: '10.0.0.0/24', gateway: '10.0.0.1' },
        { address: 'fd00::2', cidr: 'fd00::/64', gateway: 'fd00::1' },
      ],
    });
    expect(annotations(podPatch(podNamed('a'), [dual], never))).to.deep.include({
      [key('ip_address')]: '10.0.0.2,fd00::2',
      [key('cidr')]: '10.0.0.0/24,fd00::/64',
      [key('gateway')]: '10.0.0.1,fd00::1',
    });
  });

  it('keep the spelling of the MAC, and drop a MAC that is not allocated', () => {
    const annotatedPod = podNamed('a', { annotations: { ...complete, [key('mac_address')]: '00:00:00:53:6B:BB' } });
    expect(podPatch(annotatedPod, [heldAllocation('a', { mac: '00:00:00:53:6b:bb' })], never)).to.equal(undefined);
    expect(annotations(podPatch(annotatedPod, [heldAllocation('a')], never))).to.deep.equal({
      [key('mac_address')]: null,
    });
    expect(
      annotations(podPatch(annotatedPod, [heldAllocation('a', { mac: '02:00:00:00:00:01' })], never)),
    ).to.deep.equal({
      [key('mac_address')]: '02:00:00:00:00:01',
    });
  });

  it('name the Subnet of Kube-OVN’s own networks only', () => {
    const ovn = heldAllocation('a', { provider: 'attachnet.default.ovn', subnet: 'attachnet' });
    expect(annotations(podPatch(podNamed('a'), [ovn], never))).to.include({
      'attachnet.default.ovn.kubernetes.io/logical_switch': 'attachnet',
    });
    expect(annotations(podPatch(podNamed('a'), [heldAllocation('a')], (subnet) => subnet === 'macvlan'))).to.include({
      [key('logical_switch')]: 'macvlan',
    });
    expect(annotations(podPatch(podNamed('a'), [heldAllocation('a')], never))).not.to.have.property(
      key('logical_switch'),
    );
  });

  it('have the interface in the keys of a further address of a provider, once it is known', () => {
    const second = {
      seq: 8,
      ordinal: 1,
      addresses: [{ address: '10.0.0.3', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }],
    };
    expect(
      annotations(podPatch(podNamed('a'), [heldAllocation('a'), heldAllocation('a', second)], never)),
    ).to.deep.equal(complete);
    const bound = heldAllocation('a', { ...second, interface: 'net2', mac: '02:00:00:00:00:02' });
    expect(annotations(podPatch(podNamed('a'), [heldAllocation('a'), bound], never))).to.deep.equal({
      ...complete,
      [key('ip_address.net2')]: '10.0.0.3',
      [key('mac_address.net2')]: '02:00:00:00:00:02',
    });
  });

  it('leave out keys that Kubernetes rejects', () => {
    const [long, odd] = [`${'n'.repeat(240)}.default`, 'Physical_Net'];
    for (const provider of [long, odd])
      expect(podPatch(podNamed('a'), [heldAllocation('a', { provider })], never)).to.equal(undefined);
    const both = [heldAllocation('a'), heldAllocation('a', { seq: 8, provider: long })];
    expect(annotations(podPatch(podNamed('a'), both, never))).to.deep.equal(complete);
  });

  it('are neither written to a Pod with another uid, nor removed from a terminated Pod', () => {
    expect(podPatch(podNamed('a', { uid: 'new' }), [heldAllocation('a')], never)).to.equal(undefined);
    const finished = { annotations: complete, status: { phase: 'Succeeded' } };
    expect(podPatch(podNamed('a', finished), [], never)).to.equal(undefined);
  });

  it('are removed from a running Pod after an attachment was detached', () => {
    const removed = Object.fromEntries(Object.keys(complete).map((each) => [each, null]));
    expect(annotations(podPatch(podNamed('a', { annotations: complete }), [], never))).to.deep.equal(removed);
  });

  it('have the interface in each key, for NICs of one Kube-OVN-type network', () => {
    const provider = 'net.default.ovn';
    const nics = ['net1', 'net2'].map((name, ordinal) => heldAllocation('a', { provider, ordinal, interface: name }));
    const patch = annotations(podPatch(podNamed('a'), nics, never)) ?? {};
    for (const name of ['net1', 'net2'])
      expect(patch).to.include({
        [`${provider}.${name}.kubernetes.io/ip_address`]: '10.0.0.2',
        [`${provider}.${name}.kubernetes.io/allocated`]: 'true',
      });
    const present = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== null)) as Record<
      string,
      string
    >;
    expect(podPatch(podNamed('a', { annotations: present }), nics, never)).to.equal(undefined);
  });

  it('name the virtual machine on its launcher', () => {
    const patch = podPatch(launcher('a'), [heldAllocation('vm1')], never);
    expect(patch?.metadata.uid).to.equal('uid-virt-launcher-vm1-a');
    expect(patch?.metadata.annotations).to.include({
      'macvlan.default.kubernetes.io/ip_address': '10.0.0.2',
      'macvlan.default.kubernetes.io/virtualmachine': 'vm1',
    });
  });

  it('are written to the mirror of a static Pod with the uid of the mirror', () => {
    const mirror = podNamed('a', {
      annotations: {
        'kubernetes.io/config.mirror': 'd41d8cd98f00b204e9800998ecf8427e',
        'kubernetes.io/config.hash': 'd41d8cd98f00b204e9800998ecf8427e',
      },
    });
    expect(
      podPatch(mirror, [heldAllocation('a', { uid: 'd41d8cd98f00b204e9800998ecf8427e' })], never)?.metadata.uid,
    ).to.equal('uid-a');
  });
});
