import { expect } from 'chai';
import { request } from '../testing/fakes.ts';
import { overlayMtu, underlayMtu } from './nic-mtu.ts';
import { readNicSettings } from './nic-settings.ts';
import { ovsRows, pairs } from './testing/ovs-rows.ts';

const podPath = '/api/v1/namespaces/default/pods/p';
const subnetPath = '/apis/kubeovn.io/v1/subnets/lan';
const vlanPath = '/apis/kubeovn.io/v1/vlans/v7';

function read(objects: Readonly<Record<string, object>>, requestedPaths: string[] = []) {
  const reader = (path: string) => {
    requestedPaths.push(path);
    return Promise.resolve(objects[path]);
  };
  const signal = new AbortController().signal;
  return readNicSettings(reader, { request: request(), subnet: 'lan', signal });
}

const failureOf = async (work: Promise<unknown>): Promise<string> =>
  String(await work.catch((error: unknown) => error));

describe('The settings of a NIC', () => {
  it('The settings of a NIC come from its Subnet and its Pod', async () => {
    const metadata = { annotations: { 'macvlan.default.kubernetes.io/egress_rate': '2' } };
    const spec = { mtu: 1_300, vlan: 'v7', disableGatewayCheck: true };
    const paths: string[] = [];
    expect(await read({ [podPath]: { metadata }, [subnetPath]: { spec } }, paths)).to.deep.equal({
      mtu: 1_300,
      isUnderlay: true,
      providerNetwork: '',
      isGatewayCheckDisabled: true,
      ingress: undefined,
      egress: { kbps: 2_000, burstKb: 0 },
    });
    expect(paths).to.have.length(2);
  });

  it('The settings of a NIC have the ProviderNetwork of an underlay Subnet without MTU, unless a router carries its packets', async () => {
    const objects = { [podPath]: { metadata: {} }, [vlanPath]: { spec: { provider: 'net-a' } } };
    const withSpec = (spec: object) => read({ ...objects, [subnetPath]: { spec } });
    expect(await withSpec({ vlan: 'v7' })).to.include({ isUnderlay: true, providerNetwork: 'net-a' });
    expect(await withSpec({ vlan: 'v7', logicalGateway: true })).to.include({ isUnderlay: true, providerNetwork: '' });
  });

  it('The settings of a NIC cannot be read if an object is absent or invalid, and the error names the object', async () => {
    expect(await failureOf(read({ [podPath]: { metadata: {} } }))).to.contain('Subnet lan does not exist');
    const subnet = { spec: { vlan: 'v7' } };
    expect(await failureOf(read({ [podPath]: { metadata: {} }, [subnetPath]: subnet }))).to.contain(
      'Vlan v7 of Subnet lan',
    );
    const invalid = { spec: { mtu: 70_000 } };
    expect(await failureOf(read({ [podPath]: { metadata: {} }, [subnetPath]: invalid }))).to.contain(
      'spec.mtu is invalid',
    );
  });
});

describe('The MTU of a NIC', () => {
  const root = (ids: Readonly<Record<string, string>>) => ({ Open_vSwitch: { o: { external_ids: pairs(ids) } } });
  const mtus: Readonly<Record<string, number>> = { '10.0.0.1': 1_500, '10.0.0.2': 9_000 };
  const overlay = (ids: Readonly<Record<string, string>>) => overlayMtu(ovsRows(root(ids)), (address) => mtus[address]);

  it('The MTU of a NIC on tunnels is that of the smallest NIC of ovn-encap-ip less the largest header', () => {
    expect(overlay({ 'ovn-encap-ip': '10.0.0.1', 'ovn-encap-type': 'geneve' })).to.equal(1_400);
    expect(overlay({ 'ovn-encap-ip': '10.0.0.2', 'ovn-encap-type': 'vxlan' })).to.equal(8_950);
    expect(overlay({ 'ovn-encap-ip': '10.0.0.1,10.0.0.2', 'ovn-encap-type': 'vxlan,geneve' })).to.equal(1_400);
    expect(() => overlay({ 'ovn-encap-ip': '10.0.0.3' })).to.throw('no NIC of this node has ovn-encap-ip 10.0.0.3');
  });

  it('The MTU of a NIC on a physical network is that of the smallest NIC in its bridge', () => {
    const bridge = {
      ...root({ 'ovn-bridge-mappings': 'other:br-x,net-a:br-a' }),
      Bridge: { b: { name: 'br-a', ports: new Set(['p1', 'p2', 'p3']) } },
      Port: { p1: { interfaces: new Set(['i1']) }, p2: { interfaces: 'i2' }, p3: { interfaces: new Set(['i3']) } },
      Interface: { i1: { type: 'internal', mtu: 1_200 }, i2: { type: '', mtu: 1_450 }, i3: { type: '', mtu: 1_500 } },
    };
    expect(underlayMtu(ovsRows(bridge), 'net-a')).to.equal(1_450);
    expect(() => underlayMtu(ovsRows(bridge), 'net-b')).to.throw('ovn-bridge-mappings does not name it');
    expect(() => underlayMtu(ovsRows(bridge), 'other')).to.throw('br-x does not exist');
    expect(() => underlayMtu(ovsRows({ ...bridge, Interface: {} }), 'net-a')).to.throw('has no NIC');
  });
});
