import { expect } from 'chai';
import { heldAllocation, launcher, mirrorOf, podNamed } from '../testing/fakes.ts';
import { podPatch, type ShownSubnet } from './pod-annotations.ts';

const never = (): undefined => undefined;
const lan: ShownSubnet = { isOvn: false, cidrBlock: '10.0.0.0/24', gateway: '10.0.0.1', logicalRouter: '' };
const key = (suffix: string) => `macvlan.default.kubernetes.io/${suffix}`;
const complete = {
  [key('ip_address')]: '10.0.0.2',
  [key('cidr')]: '10.0.0.0/24',
  [key('gateway')]: '10.0.0.1',
  [key('allocated')]: 'true',
  [key('routed')]: 'true',
};
const patchOf = (...options: Parameters<typeof podPatch>) => podPatch(...options).patch;
const annotations = (patch: ReturnType<typeof patchOf>) => patch?.metadata.annotations;

describe('Pod annotations of allocations', () => {
  it('Pod annotations of allocations are written in one patch for the uid of the Pod', () => {
    expect(patchOf(podNamed('a'), [heldAllocation('a')], never)).to.deep.equal({
      metadata: { uid: 'uid-a', annotations: complete },
    });
  });

  it('Pod annotations of allocations are not written when they are up to date', () => {
    expect(patchOf(podNamed('a', { annotations: complete }), [heldAllocation('a')], never)).to.equal(undefined);
  });

  it('Pod annotations of allocations are restored where they were changed, and only there', () => {
    const changed = podNamed('a', { annotations: { ...complete, [key('ip_address')]: '9.9.9.9' } });
    expect(annotations(patchOf(changed, [heldAllocation('a')], never))).to.deep.equal({
      [key('ip_address')]: '10.0.0.2',
    });
  });

  it('Pod annotations of allocations join both families, IPv4 first', () => {
    const dual = heldAllocation('a', {
      addresses: [
        { address: '10.0.0.2', cidr: '10.0.0.0/24', gateway: '10.0.0.1' },
        { address: 'fd00::2', cidr: 'fd00::/64', gateway: 'fd00::1' },
      ],
    });
    expect(annotations(patchOf(podNamed('a'), [dual], never))).to.deep.include({
      [key('ip_address')]: '10.0.0.2,fd00::2',
      [key('cidr')]: '10.0.0.0/24,fd00::/64',
      [key('gateway')]: '10.0.0.1,fd00::1',
    });
  });

  it('Pod annotations of allocations keep the spelling of the MAC, and drop a MAC that is not allocated', () => {
    const annotatedPod = podNamed('a', { annotations: { ...complete, [key('mac_address')]: '00:00:00:53:6B:BB' } });
    expect(patchOf(annotatedPod, [heldAllocation('a', { mac: '00:00:00:53:6b:bb' })], never)).to.equal(undefined);
    expect(annotations(patchOf(annotatedPod, [heldAllocation('a')], never))).to.deep.equal({
      [key('mac_address')]: null,
    });
    expect(
      annotations(patchOf(annotatedPod, [heldAllocation('a', { mac: '02:00:00:00:00:01' })], never)),
    ).to.deep.equal({
      [key('mac_address')]: '02:00:00:00:00:01',
    });
  });

  it('Pod annotations of allocations name the Subnet only of Kube-OVN’s own networks', () => {
    const ovn = heldAllocation('a', { provider: 'attachnet.default.ovn', subnet: 'attachnet' });
    expect(annotations(patchOf(podNamed('a'), [ovn], never))).to.include({
      'attachnet.default.ovn.kubernetes.io/logical_switch': 'attachnet',
    });
    expect(annotations(patchOf(podNamed('a'), [heldAllocation('a')], () => ({ ...lan, isOvn: true })))).to.include({
      [key('logical_switch')]: 'macvlan',
    });
    expect(annotations(patchOf(podNamed('a'), [heldAllocation('a')], never))).not.to.have.property(
      key('logical_switch'),
    );
  });

  it('Pod annotations of allocations show both families of the Subnet for an address of one family', () => {
    const dual = { ...lan, cidrBlock: '10.0.0.0/24,fd00::/64', gateway: '10.0.0.1,fd00::1' };
    const ipv6 = { addresses: [{ address: 'fd00::2', cidr: 'fd00::/64', gateway: 'fd00::1' }] };
    for (const allocation of [heldAllocation('a'), heldAllocation('a', ipv6)])
      expect(annotations(patchOf(podNamed('a'), [allocation], () => dual))).to.include({
        [key('cidr')]: '10.0.0.0/24,fd00::/64',
        [key('gateway')]: '10.0.0.1,fd00::1',
      });
  });

  it('Pod annotations of allocations show router or VLAN, and the link type, only for NICs of Kube-OVN’s own type', () => {
    const provider = 'net.default.ovn';
    const ovnKey = (suffix: string) => `${provider}.kubernetes.io/${suffix}`;
    const underlay = { ...lan, isOvn: true, vlan: { id: 0, provider: 'physnet' } };
    const nic = heldAllocation('a', { provider });
    const links = { [ovnKey('pod_nic_type')]: 'veth-pair' };
    expect(annotations(patchOf(podNamed('a'), [nic], () => underlay)))
      .to.include({ ...links, [ovnKey('vlan_id')]: '0', [ovnKey('provider_network')]: 'physnet' })
      .and.not.have.property(ovnKey('logical_router'));
    const overlay = { ...lan, isOvn: true, logicalRouter: 'ovn-cluster' };
    expect(annotations(patchOf(podNamed('a'), [nic], () => overlay))).to.include({
      ...links,
      [ovnKey('logical_router')]: 'ovn-cluster',
    });
    const requested = podNamed('a', { annotations: { [ovnKey('pod_nic_type')]: 'internal-port' } });
    expect(annotations(patchOf(requested, [nic], () => overlay))).not.to.have.property(ovnKey('pod_nic_type'));
    expect(annotations(patchOf(podNamed('a'), [heldAllocation('a')], () => underlay))).to.have.all.keys(
      ...Object.keys(complete),
      key('logical_switch'),
    );
  });

  it('Pod annotations of allocations have the interface in the keys of a provider’s further address, once it is known', () => {
    const second = {
      seq: 8,
      ordinal: 1,
      addresses: [{ address: '10.0.0.3', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }],
    };
    expect(
      annotations(patchOf(podNamed('a'), [heldAllocation('a'), heldAllocation('a', second)], never)),
    ).to.deep.equal(complete);
    const bound = heldAllocation('a', { ...second, interface: 'net2', mac: '02:00:00:00:00:02' });
    expect(annotations(patchOf(podNamed('a'), [heldAllocation('a'), bound], never))).to.deep.equal({
      ...complete,
      [key('ip_address.net2')]: '10.0.0.3',
      [key('mac_address.net2')]: '02:00:00:00:00:02',
    });
  });

  it('Pod annotations of allocations omit keys that Kubernetes rejects', () => {
    const [long, odd] = [`${'n'.repeat(240)}.default`, 'Physical_Net'];
    for (const provider of [long, odd])
      expect(patchOf(podNamed('a'), [heldAllocation('a', { provider })], never)).to.equal(undefined);
    const both = [heldAllocation('a'), heldAllocation('a', { seq: 8, provider: long })];
    expect(annotations(patchOf(podNamed('a'), both, never))).to.deep.equal(complete);
    expect(podPatch(podNamed('a'), both, never).rejectedKeys).to.include(`${long}.kubernetes.io/ip_address`);
  });

  for (const name of ['up-', 'up.', 'a+b', 'ü', '-', '_x_'])
    it(`Pod annotations of allocations omit only the keys of an interface that cannot end a key: ${name}`, () => {
      const others = ['net1', name].map((each, index) =>
        heldAllocation('a', { seq: 8 + index, ordinal: 1 + index, interface: each, mac: '02:00:00:00:00:02' }),
      );
      const { patch, rejectedKeys } = podPatch(podNamed('a'), [heldAllocation('a'), ...others], never);
      expect(annotations(patch)).to.deep.equal({
        ...complete,
        [key('ip_address.net1')]: '10.0.0.2',
        [key('mac_address.net1')]: '02:00:00:00:00:02',
      });
      expect(rejectedKeys).to.deep.equal([key(`ip_address.${name}`), key(`mac_address.${name}`)]);
    });

  it('Pod annotations of allocations omit the keys of a Kube-OVN-type NIC whose interface cannot be part of a prefix', () => {
    const provider = 'net.default.ovn';
    const nics = ['net1', 'a_b'].map((name, ordinal) => heldAllocation('a', { provider, ordinal, interface: name }));
    const { patch, rejectedKeys } = podPatch(podNamed('a'), nics, never);
    expect(annotations(patch)).to.include({
      'net.default.ovn.net1.kubernetes.io/allocated': 'true',
      'net.default.kubernetes.io/ip_address.a_b': '10.0.0.2',
    });
    expect(rejectedKeys).to.include('net.default.ovn.a_b.kubernetes.io/allocated');
    expect(Object.keys(annotations(patch) ?? {}).filter((each) => each.includes('.a_b.'))).to.deep.equal([]);
  });

  it('Pod annotations of allocations are neither written to a Pod with another uid, nor removed from a terminated Pod', () => {
    expect(patchOf(podNamed('a', { uid: 'new' }), [heldAllocation('a')], never)).to.equal(undefined);
    const finished = { annotations: complete, status: { phase: 'Succeeded' } };
    expect(patchOf(podNamed('a', finished), [], never)).to.equal(undefined);
  });

  it('Pod annotations of allocations are removed from a running Pod after an attachment was detached', () => {
    const removed = Object.fromEntries(Object.keys(complete).map((each) => [each, null]));
    expect(annotations(patchOf(podNamed('a', { annotations: complete }), [], never))).to.deep.equal(removed);
  });

  it('Pod annotations of allocations have the interface in each key, for NICs of one Kube-OVN-type network', () => {
    const provider = 'net.default.ovn';
    const nics = ['net1', 'net2'].map((name, ordinal) => heldAllocation('a', { provider, ordinal, interface: name }));
    const patch = annotations(patchOf(podNamed('a'), nics, never)) ?? {};
    for (const name of ['net1', 'net2'])
      expect(patch).to.include({
        [`${provider}.${name}.kubernetes.io/ip_address`]: '10.0.0.2',
        [`${provider}.${name}.kubernetes.io/allocated`]: 'true',
      });
    const present = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== null)) as Record<
      string,
      string
    >;
    expect(patchOf(podNamed('a', { annotations: present }), nics, never)).to.equal(undefined);
  });

  it('Pod annotations of allocations name the virtual machine on its launcher', () => {
    const patch = patchOf(launcher('a'), [heldAllocation('vm1')], never);
    expect(patch?.metadata.uid).to.equal('uid-virt-launcher-vm1-a');
    expect(patch?.metadata.annotations).to.include({
      'macvlan.default.kubernetes.io/ip_address': '10.0.0.2',
      'macvlan.default.kubernetes.io/virtualmachine': 'vm1',
    });
  });

  it('Pod annotations of allocations are written to the mirror of a static Pod with the uid of the mirror', () => {
    const hash = 'd41d8cd98f00b204e9800998ecf8427e';
    const mirror = mirrorOf('a', hash);
    expect(patchOf(mirror, [heldAllocation('a', { uid: hash })], never)?.metadata.uid).to.equal(mirror.uid);
  });
});
