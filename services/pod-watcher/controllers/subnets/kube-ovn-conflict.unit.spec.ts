import { expect } from 'chai';
import { toSubnet } from '../../kubernetes/objects/subnet.ts';
import { kubeOvnConflict } from './kube-ovn-subnets.ts';

const subnet = (name: string, spec: object, status: object = {}) =>
  toSubnet({ metadata: { name, uid: name }, spec, status });
const cidrBlock = '172.17.0.0/16';
const own = (excludeIps: string[] = [], more: object = {}) =>
  subnet('lan', { cidrBlock, excludeIps, provider: 'lan.default', ...more });
const kubeOvn = subnet(
  'macvlan',
  { cidrBlock, provider: 'lan.default' },
  {
    v4usingIPrange: '172.17.0.2-172.17.0.9,172.17.0.20',
    v4availableIPrange: '172.17.0.10-172.17.0.19,172.17.0.21-172.17.255.254',
  },
);
const conflictOf = (object = own(), { subnets = [kubeOvn], isOwn = true, areApart = false } = {}) =>
  kubeOvnConflict(object, { subnets, isOwnNetwork: () => isOwn, areApart: () => areApart });

describe('beside Kube-OVN a Subnet', () => {
  for (const provider of ['', 'ovn', 'net.default.ovn'])
    it(`beside Kube-OVN a Subnet of provider ${JSON.stringify(provider)} is refused, because Kube-OVN serves it`, () => {
      expect(conflictOf(own([], { provider })))
        .to.match(/"ipam": {"type": "ipledger"}/)
        .and.contain(`Kube-OVN serves provider ${provider === '' ? 'ovn' : provider} on this cluster`);
    });

  it('beside Kube-OVN a Subnet is refused until it excludes the addresses of Kube-OVN’s Pods', () => {
    expect(conflictOf()).to.equal(
      'Kube-OVN\'s Subnet macvlan has given 172.17.0.2..172.17.0.9: add "172.17.0.2..172.17.0.9" to spec.excludeIps until the Pods with these addresses are deleted',
    );
    expect(conflictOf(own(['172.17.0.2..172.17.0.9']))).to.contain('has given 172.17.0.20:');
    expect(conflictOf(own(['172.17.0.20', '172.17.0.6..172.17.0.9', '172.17.0.1..172.17.0.5']))).to.equal(undefined);
  });

  it('beside Kube-OVN a Subnet is refused while a network of Kube-OVN may allocate the same addresses', () => {
    const excludes = ['172.17.0.1..172.17.0.20'];
    expect(conflictOf(own(excludes), { isOwn: false })).to.match(
      /^Kube-OVN's Subnet macvlan of provider lan\.default may give 172\.17\.0\.21\.\.172\.17\.255\.254: /,
    );
    const disjoint = own([], { cidrBlock: '172.18.0.0/24' });
    expect(conflictOf(disjoint, { isOwn: false })).to.equal(undefined);
  });

  it('beside Kube-OVN a Subnet inside a range of Kube-OVN is refused, also in IPv6', () => {
    const status = { v6usingIPrange: 'fd00::1-fd00::ffff' };
    const subnets = [subnet('six', { cidrBlock: 'fd00::/64', provider: 'six.default' }, status)];
    expect(conflictOf(own([], { cidrBlock: 'fd00::100/120' }), { subnets })).to.contain(
      'has given fd00::1..fd00::ffff',
    );
    const excluding = own(['fd00::1..fd00::ffff'], { cidrBlock: 'fd00::100/120' });
    expect(conflictOf(excluding, { subnets })).to.equal(undefined);
  });

  it('beside Kube-OVN a dual-stack Subnet is refused if Kube-OVN has given addresses of one of its families', () => {
    for (const dual of ['172.17.0.0/24,fd00::/64', 'fd00::/64, 172.17.0.0/24'])
      expect(conflictOf(own([], { cidrBlock: dual })), dual).to.contain('has given 172.17.0.2..172.17.0.9');
  });

  it('beside Kube-OVN a Subnet is refused if a range of Kube-OVN ends at its first address, or begins at its last', () => {
    const usedBy = (v4usingIPrange: string) =>
      conflictOf(own([], { cidrBlock: '172.17.1.0/24' }), {
        subnets: [subnet('edge', { cidrBlock: '172.16.0.0/12', provider: 'lan.default' }, { v4usingIPrange })],
      });
    for (const range of ['172.17.0.9-172.17.1.0', '172.17.1.255-172.17.2.9'])
      expect(usedBy(range), range).to.be.a('string');
    for (const range of ['172.17.0.9-172.17.0.255', '172.17.2.0']) expect(usedBy(range), range).to.equal(undefined);
  });

  it('beside Kube-OVN a Subnet may have the addresses of a network in another broadcast domain', () => {
    expect(conflictOf(own(), { areApart: true })).to.equal(undefined);
  });

  it('beside Kube-OVN a Subnet may have the addresses of an overlay, but not those of an underlay', () => {
    const { spec, status } = kubeOvn;
    const overlay = subnet('pods', { ...spec, provider: 'ovn' }, status);
    expect(conflictOf(own(), { subnets: [overlay] })).to.equal(undefined);
    const underlay = subnet('pods', { ...spec, provider: 'ovn', vlan: 'vlan10' }, status);
    expect(conflictOf(own(), { subnets: [underlay] })).to.contain('Subnet pods has given');
  });
});
