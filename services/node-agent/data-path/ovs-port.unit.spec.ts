import { expect } from 'chai';
import { requireNode } from './data-path.ts';
import { insertPortOperations, ownedPorts, rejectLinkInUse, removePortOperations } from './ovs-port.ts';
import { isStale } from './port-sweep.ts';
import { createBatch, insideBatch, linkLocalOf } from './pod-links.ts';
import { nicPlan, ovsRows, pairs, type TestRows } from './testing/ovs-rows.ts';

const ours = { vendor: 'ipledger', container_id: 'c0', interface: 'net1' };
const port = (name: string, ids: Readonly<Record<string, string>>): TestRows => ({
  Bridge: { b: { name: 'br-int', ports: new Set(['p', 'q']) } },
  Port: { p: { name, interfaces: new Set(['i']) }, q: { name: 'other', interfaces: new Set(['j']) } },
  Interface: { i: { name, external_ids: pairs(ids) }, j: { name: 'other', external_ids: pairs({}) } },
});
const deletesOf = (operations: readonly object[]): string[] =>
  operations.flatMap((operation) =>
    'op' in operation && operation.op === 'delete' ? [JSON.stringify(operation)] : [],
  );

describe('The OVS port of a NIC', () => {
  it('The OVS port of a NIC is one transaction of Interface, Port and Bridge, with the identity of container and Pod', () => {
    const [nic, added, bridge] = insertPortOperations(ovsRows({}), 'b', nicPlan());
    expect(nic).to.deep.include({ op: 'insert', table: 'Interface' });
    expect(nic)
      .to.have.nested.property('row.external_ids')
      .that.deep.equals(
        pairs({
          vendor: 'ipledger',
          container_id: 'c1',
          interface: 'net1',
          'iface-id': 'p.default.lan.default.ovn',
          pod_name: 'p',
          pod_namespace: 'default',
          pod_netns: '/run/netns/p',
          ip: '172.17.0.11,fd17::b',
          provider: 'lan.default.ovn',
        }),
      );
    expect(added).to.deep.include({ op: 'insert', table: 'Port' });
    expect(bridge).to.deep.include({ op: 'mutate', table: 'Bridge', where: [['_uuid', '==', 'b']] });
  });

  it('The OVS port of a NIC polices what the Pod sends with a burst of 80 %, and queues what it receives', () => {
    const limited = nicPlan({ egress: { kbps: 20_000, burstKb: 0 }, ingress: { kbps: 30_000, burstKb: 500 } });
    const operations = insertPortOperations(ovsRows({}), 'b', limited);
    const rowOf = (table: string): unknown =>
      operations.flatMap((each) => (each.op === 'insert' && each.table === table ? [each.row] : []))[0];
    expect(rowOf('Interface')).to.include({ ingress_policing_rate: 20_000, ingress_policing_burst: 16_000 });
    expect(rowOf('Queue')).to.deep.include({ other_config: pairs({ 'max-rate': '30000000', burst: '500000' }) });
    expect(rowOf('QoS')).to.deep.include({ type: 'linux-htb', other_config: pairs({ 'max-rate': '30000000' }) });
    const chosen = insertPortOperations(ovsRows({}), 'b', nicPlan({ egress: { kbps: 20_000, burstKb: 100 } }));
    expect(JSON.stringify(chosen)).to.contain('"ingress_policing_burst":100');
  });

  it('The OVS port of a NIC replaces a port of the same logical port or host link, and no other', () => {
    for (const rows of [port('old', { 'iface-id': 'p.default.lan.default.ovn' }), port('c1_net1_h', {})])
      expect(deletesOf(insertPortOperations(ovsRows(rows), 'b', nicPlan()))).to.deep.equal([
        '{"op":"delete","table":"Port","where":[["_uuid","==","p"]]}',
      ]);
  });

  it('The OVS port of a NIC is removed with the QoS rows of its container, if ipledger made it', () => {
    const removed = (ids: Readonly<Record<string, string>>) => {
      const rows = ovsRows(port('x', ids));
      return removePortOperations(rows, 'i', rows.rows('Interface').get('i'));
    };
    expect(deletesOf(removed(ours))).to.have.length(3);
    expect(deletesOf(removed({ ...ours, vendor: 'kube-ovn' }))).to.have.length(1);
  });

  it('An OVS port belongs to the agent only with vendor, container and interface', () => {
    expect(ownedPorts(ovsRows(port('x', ours)))).to.have.length(1);
    for (const key of Object.keys(ours)) {
      const partial = Object.fromEntries(Object.entries(ours).filter(([each]) => each !== key));
      expect(ownedPorts(ovsRows(port('x', partial)))).to.deep.equal([]);
    }
  });

  it('The OVS port of a NIC is refused while another container uses the name of its link', () => {
    const rows = ovsRows(port('c1_net1_h', { ...ours, pod_netns: '/run/netns/other' }));
    expect(() => rejectLinkInUse(rows, nicPlan(), () => true)).to.throw('belongs to container c0');
    rejectLinkInUse(rows, nicPlan(), () => false);
    rejectLinkInUse(rows, nicPlan({ containerId: 'c0' }), () => true);
  });

  it('An OVS port is stale without its link, or without its sandbox in a folder that exists', () => {
    const nic = { name: 'c1_net1_h', netns: '/run/netns/p' };
    const links = new Set(['c1_net1_h']);
    const existing =
      (...paths: string[]) =>
      (path: string) =>
        paths.includes(path);
    expect(isStale(nic, new Set(), existing('/run/netns', '/run/netns/p'))).to.equal(true);
    expect(isStale(nic, links, existing('/run/netns', '/run/netns/p'))).to.equal(false);
    expect(isStale(nic, links, existing('/run/netns'))).to.equal(true);
    expect(isStale(nic, links, existing())).to.equal(false);
  });
});

describe('OVN on the node', () => {
  const rows = (ids: Readonly<Record<string, string>>) =>
    ovsRows({ Open_vSwitch: { o: { external_ids: pairs(ids) } }, Bridge: { b: { name: 'br-int' } } });
  const check = (ids: Readonly<Record<string, string>>, bridge = 'br-int') =>
    requireNode(rows(ids), { node: 'node-a', bridge });

  it('OVN on the node must have the name of the node as system-id or hostname', () => {
    expect(check({ 'system-id': 'node-a' }).uuid).to.equal('b');
    expect(check({ 'system-id': 'x', hostname: 'node-a' }).uuid).to.equal('b');
    expect(() => check({ 'system-id': 'x', hostname: 'y' })).to.throw(
      'OVN has this node as system-id x, hostname y, not as node-a',
    );
    expect(() => check({})).to.throw('(not set)');
  });

  it('OVN on the node must have the integration bridge', () => {
    expect(() => check({ hostname: 'node-a' }, 'br-ovn')).to.throw('bridge br-ovn does not exist');
  });
});

describe('The commands for a NIC', () => {
  it('The commands for a NIC create the veth pair, and replace an older pair', () => {
    const add =
      'link add name c1_net1_h mtu 1400 type veth peer name net1 mtu 1400 address 02:00:00:00:00:11 netns /run/netns/p\n' +
      'link set dev c1_net1_h up\n';
    expect(createBatch(nicPlan(), false)).to.equal(add);
    expect(createBatch(nicPlan(), true)).to.equal(`link delete dev c1_net1_h\n${add}`);
  });

  it('The commands for a NIC set addresses before the link is up, so that the kernel announces them, then set routes and resolve the gateways', () => {
    const routes = [
      { dst: '0.0.0.0/0', gw: '172.17.0.1' },
      { dst: 'fd99::/32', gw: '' },
    ];
    expect(insideBatch(nicPlan({ routes, replacedDefaults: [4] })).split('\n')).to.deep.equal([
      'addr replace fe80::000:00ff:fe00:0011/64 dev net1 nodad',
      'addr replace 172.17.0.11/24 dev net1',
      'addr replace fd17::b/64 dev net1 nodad',
      'link set dev net1 up',
      'route flush exact 0.0.0.0/0',
      'route replace 0.0.0.0/0 via 172.17.0.1 dev net1',
      'route replace fd99::/32 dev net1',
      'neigh replace 172.17.0.1 dev net1 use',
      'neigh replace fd17::1 dev net1 use',
      '',
    ]);
  });

  it('The commands for a NIC set the link-local address that the kernel would make', () => {
    expect(linkLocalOf('02:00:00:00:00:11')).to.equal('fe80::000:00ff:fe00:0011');
    expect(linkLocalOf('52:54:00:ab:cd:ef')).to.equal('fe80::5054:00ff:feab:cdef');
  });
});
