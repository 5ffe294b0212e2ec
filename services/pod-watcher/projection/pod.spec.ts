import { expect } from 'chai';
import { holding, launcher, podNamed } from '../fakes.ts';
import { podPatch } from './pod.ts';

const never = (): boolean => false;
const key = (suffix: string) => `macvlan.default.kubernetes.io/${suffix}`;
const complete = {
  [key('ip_address')]: '10.0.0.2',
  [key('cidr')]: '10.0.0.0/24',
  [key('gateway')]: '10.0.0.1',
  [key('allocated')]: 'true',
};
const annotations = (patch: ReturnType<typeof podPatch>) => patch?.metadata.annotations;

describe('what a Pod’s annotations say of its allocations', () => {
  it('is written in one patch, which only this very Pod takes', () => {
    expect(podPatch(podNamed('a'), [holding('a')], never)).to.deep.equal({
      metadata: { uid: 'uid-a', annotations: complete },
    });
  });

  it('is left alone when it is right', () => {
    expect(podPatch(podNamed('a', { annotations: complete }), [holding('a')], never)).to.equal(undefined);
  });

  it('is put right where it was changed, and only there', () => {
    const changed = podNamed('a', { annotations: { ...complete, [key('ip_address')]: '9.9.9.9' } });
    expect(annotations(podPatch(changed, [holding('a')], never))).to.deep.equal({ [key('ip_address')]: '10.0.0.2' });
  });

  it('joins both families, IPv4 first', () => {
    const dual = holding('a', {
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

  it('shows the MAC as its owner wrote it, and removes one that is not held', () => {
    const asked = podNamed('a', { annotations: { ...complete, [key('mac_address')]: '00:00:00:53:6B:BB' } });
    expect(podPatch(asked, [holding('a', { mac: '00:00:00:53:6b:bb' })], never)).to.equal(undefined);
    expect(annotations(podPatch(asked, [holding('a')], never))).to.deep.equal({ [key('mac_address')]: null });
    expect(annotations(podPatch(asked, [holding('a', { mac: '02:00:00:00:00:01' })], never))).to.deep.equal({
      [key('mac_address')]: '02:00:00:00:00:01',
    });
  });

  it('names the Subnet of Kube-OVN’s own networks only', () => {
    const ovn = holding('a', { provider: 'attachnet.default.ovn', subnet: 'attachnet' });
    expect(annotations(podPatch(podNamed('a'), [ovn], never))).to.include({
      'attachnet.default.ovn.kubernetes.io/logical_switch': 'attachnet',
    });
    expect(annotations(podPatch(podNamed('a'), [holding('a')], (subnet) => subnet === 'macvlan'))).to.include({
      [key('logical_switch')]: 'macvlan',
    });
    expect(annotations(podPatch(podNamed('a'), [holding('a')], never))).not.to.have.property(key('logical_switch'));
  });

  it('says a further address of the same provider by its interface, once that is known', () => {
    const second = {
      seq: 8,
      ordinal: 1,
      addresses: [{ address: '10.0.0.3', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }],
    };
    expect(annotations(podPatch(podNamed('a'), [holding('a'), holding('a', second)], never))).to.deep.equal(complete);
    const bound = holding('a', { ...second, interface: 'net2', mac: '02:00:00:00:00:02' });
    expect(annotations(podPatch(podNamed('a'), [holding('a'), bound], never))).to.deep.equal({
      ...complete,
      [key('ip_address.net2')]: '10.0.0.3',
      [key('mac_address.net2')]: '02:00:00:00:00:02',
    });
  });

  it('leaves out what stands under a key that Kubernetes does not take', () => {
    const [long, odd] = [`${'n'.repeat(240)}.default`, 'Physical_Net'];
    for (const provider of [long, odd])
      expect(podPatch(podNamed('a'), [holding('a', { provider })], never)).to.equal(undefined);
    const both = [holding('a'), holding('a', { seq: 8, provider: long })];
    expect(annotations(podPatch(podNamed('a'), both, never))).to.deep.equal(complete);
  });

  it('is not written onto a Pod of the same name with another uid, nor taken off a finished one', () => {
    expect(podPatch(podNamed('a', { uid: 'new' }), [holding('a')], never)).to.equal(undefined);
    const finished = { annotations: complete, status: { phase: 'Succeeded' } };
    expect(podPatch(podNamed('a', finished), [], never)).to.equal(undefined);
  });

  it('is taken off a living one that was detached', () => {
    const gone = Object.fromEntries(Object.keys(complete).map((each) => [each, null]));
    expect(annotations(podPatch(podNamed('a', { annotations: complete }), [], never))).to.deep.equal(gone);
  });

  it('names the interface in each key, for NICs of one Kube-OVN-type network', () => {
    const provider = 'net.default.ovn';
    const nics = ['net1', 'net2'].map((name, ordinal) => holding('a', { provider, ordinal, interface: name }));
    const patch = annotations(podPatch(podNamed('a'), nics, never)) ?? {};
    for (const name of ['net1', 'net2'])
      expect(patch).to.include({
        [`${provider}.${name}.kubernetes.io/ip_address`]: '10.0.0.2',
        [`${provider}.${name}.kubernetes.io/allocated`]: 'true',
      });
    const shown = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== null)) as Record<
      string,
      string
    >;
    expect(podPatch(podNamed('a', { annotations: shown }), nics, never)).to.equal(undefined);
  });

  it('is written onto a virtual machine’s launcher with the name of the machine', () => {
    const patch = podPatch(launcher('a'), [holding('vm1')], never);
    expect(patch?.metadata.uid).to.equal('uid-virt-launcher-vm1-a');
    expect(patch?.metadata.annotations).to.include({
      'macvlan.default.kubernetes.io/ip_address': '10.0.0.2',
      'macvlan.default.kubernetes.io/virtualmachine': 'vm1',
    });
  });

  it('is written onto a static Pod’s mirror under the mirror’s own uid', () => {
    const mirror = podNamed('a', {
      annotations: {
        'kubernetes.io/config.mirror': 'd41d8cd98f00b204e9800998ecf8427e',
        'kubernetes.io/config.hash': 'd41d8cd98f00b204e9800998ecf8427e',
      },
    });
    expect(podPatch(mirror, [holding('a', { uid: 'd41d8cd98f00b204e9800998ecf8427e' })], never)?.metadata.uid).to.equal(
      'uid-a',
    );
  });
});
