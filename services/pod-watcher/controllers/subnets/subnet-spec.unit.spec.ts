import { expect } from 'chai';
import { nodes as nodeKind } from '../../kubernetes/objects/node.ts';
import { appliedSubnet, subnetNamed } from '../../testing/fakes.ts';
import { appliedSpecFields, privateWarning, specConflicts, specDifferences } from './subnet-spec.ts';

const node = nodeKind.parse({
  metadata: { name: 'n1', uid: 'u' },
  status: { addresses: [{ type: 'InternalIP', address: '10.0.0.7' }] },
});

describe('the spec of a Subnet object', () => {
  const conflictsOf = (spec: object, apiServer = '10.96.0.1') =>
    specConflicts(subnetNamed('lan', spec), { apiServer, nodes: new Map([['n1', node]]) });

  it('the spec of a Subnet object conflicts with addresses of Nodes if it is an overlay of the default VPC, and else not', () => {
    const ofNode = ['subnet lan cidr 10.0.0.0/24 conflicts with node n1 address 10.0.0.7'];
    for (const overlay of [{ provider: 'ovn' }, { provider: '' }, { provider: 'ovn', vpc: 'ovn-cluster' }])
      expect(conflictsOf(overlay), JSON.stringify(overlay)).to.deep.equal(ofNode);
    for (const other of [{}, { provider: 'ovn', vpc: 'mine' }, { provider: 'ovn', vlan: 'vlan10' }])
      expect(conflictsOf(other), JSON.stringify(other)).to.deep.equal([]);
    expect(conflictsOf({ provider: 'ovn', cidrBlock: '10.1.0.0/24' })).to.deep.equal([]);
  });

  it('the spec of a Subnet object conflicts with the address of the API server in any of its CIDRs', () => {
    expect(conflictsOf({ cidrBlock: 'fd00::/64, 10.96.0.0/16' })).to.deep.equal([
      'subnet lan cidr 10.96.0.0/16 conflicts with k8s apiserver svc ip 10.96.0.1',
    ]);
    expect(conflictsOf({ cidrBlock: '10.96.0.0/16' }, ''), 'unknown').to.deep.equal([]);
  });

  it('the spec of a Subnet object has an MTU of at least 1,280 if it has IPv6, and vips inside its CIDRs', () => {
    const dual = 'fd00::/64,10.0.0.0/24';
    expect(conflictsOf({ mtu: 1_279, cidrBlock: dual })).to.deep.equal([
      'subnet lan mtu 1279 is below the IPv6 minimum 1280',
    ]);
    for (const fitting of [{ mtu: 1_280, cidrBlock: dual }, { mtu: 1_279 }, { mtu: 0, cidrBlock: dual }])
      expect(conflictsOf(fitting), JSON.stringify(fitting)).to.deep.equal([]);
    expect(conflictsOf({ cidrBlock: dual, vips: ['10.0.0.9', 'fd00::9', '10.1.0.9', 'FD00::9'] })).to.deep.equal([
      `vip 10.1.0.9 conflicts with subnet lan cidr ${dual}`,
      'subnet lan vips FD00::9 v6 ip address can not contain upper case',
    ]);
  });

  it('the spec of a Subnet object that asks for isolation raises a warning', () => {
    expect(privateWarning({ name: 'lan', isPrivate: true }).message).to.match(
      /^spec\.private .* of Subnet lan have no/,
    );
    expect(privateWarning({ name: 'lan', isPrivate: false })).to.include({ type: 'PrivateEnforced', message: '' });
  });

  it('the spec of a Subnet object shows the VPC and the kind of gateway of Kube-OVN, the latter in the default VPC only', () => {
    const fieldsOf = (spec: object, provider = 'ovn') =>
      appliedSpecFields(subnetNamed('lan', spec), appliedSubnet('lan', provider).spec);
    expect(fieldsOf({})).to.include({ vpc: 'ovn-cluster', gatewayType: 'distributed' });
    expect(fieldsOf({ gatewayType: 'centralized' })).to.include({ gatewayType: 'centralized' });
    expect(fieldsOf({ vpc: 'mine' }))
      .to.include({ vpc: 'mine' })
      .and.to.not.have.property('gatewayType');
    expect(fieldsOf({}, 'lan.default')).to.not.have.any.keys('vpc', 'gatewayType');
  });

  it('the spec of a Subnet object is written only where it differs', () => {
    const object = subnetNamed('lan', { gateway: '10.0.0.1', excludeIps: ['10.0.0.1'] });
    const desired = { gateway: '10.0.0.1', excludeIps: ['10.0.0.1'] };
    expect(specDifferences(object, desired)).to.deep.equal({});
    expect(specDifferences(object, { ...desired, excludeIps: ['10.0.0.2'] })).to.deep.equal({
      spec: { excludeIps: ['10.0.0.2'] },
    });
  });
});
