import { expect } from 'chai';
import { runningPod } from '../cluster/testing/running-pod.ts';
import type { ClusterSnapshot, KubeOvnSubnet } from '../cluster/cluster-snapshot.ts';
import { emptyCluster } from '../cluster/testing/empty-cluster.ts';
import type { Pod } from '../cluster/cluster-state.ts';
import { leaveOutConflicts } from './conflict.ts';
import type { LedgerContents } from './import-plan.ts';
import { type AddressPlan, planAddresses } from './plan-addresses.ts';
import type { SourceAddress } from './source-address.ts';

const subnet = (name: string, cidrBlock: string, provider = 'lan.default'): KubeOvnSubnet => ({
  kind: 'Subnet',
  name,
  uid: `uid-${name}`,
  resourceVersion: '1',
  generation: 1,
  finalizers: [],
  spec: { cidrBlock, gateway: '', excludeIps: [], provider, protocol: '' },
  namespaces: [],
  hasSelectors: false,
});
interface Shown {
  readonly name: string;
  readonly interface: string;
  readonly ips: readonly string[];
  readonly mac?: string;
}
const pod = (name: string, networks: string, shown?: readonly Shown[], more: Partial<Pod> = {}) =>
  ({
    ...runningPod(name, {
      'k8s.v1.cni.cncf.io/networks': networks,
      ...(shown && { 'k8s.v1.cni.cncf.io/network-status': JSON.stringify(shown) }),
    }),
    node: 'node-a',
    ...more,
  }) satisfies Pod;
const lan = (...ips: string[]): Shown => ({ name: 'default/lan', interface: 'net1', ips, mac: '0A:58:0A:08:00:07' });
const entry = (address: string, podName: string, more: Partial<SourceAddress> = {}): SourceAddress => ({
  where: 'IPPool kube-system/pool',
  network: 'pool',
  address,
  interface: 'net1',
  containerId: 'c0ffee',
  holder: { by: 'pod', namespace: 'default', name: podName },
  ...more,
});
const file = (address: string, more: Partial<SourceAddress> = {}): SourceAddress =>
  entry(address, '', { where: `lan/${address}`, network: 'lan', holder: { by: 'node', node: 'node-a' }, ...more });
const ledgerNetwork = JSON.stringify({ type: 'macvlan', name: 'lan', ipam: { type: 'kube-ovn' } });
const snapshotOf = (parts: Partial<ClusterSnapshot>): ClusterSnapshot => ({
  ...emptyCluster,
  subnets: [subnet('lan', '10.8.0.0/24,fd00::/64')],
  networks: new Map([['default/lan', ledgerNetwork]]),
  ...parts,
});
const emptyLedger: LedgerContents = { subnets: [], allocations: [] };
const plan = (
  addresses: readonly SourceAddress[],
  parts: Partial<ClusterSnapshot>,
  { map = new Map<string, string>(), ledger = emptyLedger } = {},
): AddressPlan => planAddresses({ addresses, conflicts: [] }, snapshotOf(parts), ledger, map);
const kindsOf = ({ conflicts }: AddressPlan): string[] => conflicts.map(({ kind, where }) => `${kind}: ${where}`);
const rowsOf = ({ plan: { attachments } }: AddressPlan): string[] =>
  attachments.map(
    ({ holder, provider, ordinal, subnet: name, addresses, mac }) =>
      `${holder.uid} ${provider}/${ordinal} ${name} ${addresses.join()} ${mac}`,
  );

describe('planAddresses', () => {
  it('planAddresses gives each Pod its addresses, of both families, with the MAC that Multus shows', () => {
    const result = plan([entry('fd00::7', 'web'), entry('10.8.0.7', 'web')], {
      pods: [pod('web', 'lan', [lan('10.8.0.7', 'FD00:0::7')])],
    });
    expect(kindsOf(result)).to.deep.equal([]);
    expect(rowsOf(result)).to.deep.equal(['uid-web lan.default/0 lan 10.8.0.7,fd00::7 0a:58:0a:08:00:07']);
    expect(result.plan.subnets.map(({ name }) => name)).to.deep.equal(['lan']);
  });

  it('planAddresses derives network and ordinal without network-status from the interface', () => {
    const networks = new Map([
      ['default/lan', ledgerNetwork],
      ['default/dmz', ledgerNetwork],
    ]);
    const subnets = [subnet('lan', '10.8.0.0/24'), subnet('dmz', '10.8.0.0/24', 'dmz.default')];
    const pods = [pod('web', 'lan, dmz, lan@second')];
    const result = plan(
      [
        entry('10.8.0.7', 'web', { interface: 'second' }),
        entry('10.8.0.8', 'web', { interface: 'net2' }),
        entry('10.8.0.9', 'web'),
      ],
      { networks, subnets, pods },
    );
    expect(kindsOf(result)).to.deep.equal([]);
    expect(rowsOf(result)).to.have.members([
      'uid-web lan.default/1 lan 10.8.0.7 ',
      'uid-web dmz.default/0 dmz 10.8.0.8 ',
      'uid-web lan.default/0 lan 10.8.0.9 ',
    ]);
    const unknown = plan([entry('10.8.0.7', 'web', { interface: '' })], { networks, subnets, pods });
    expect(kindsOf(unknown)).to.deep.equal(['no Subnet: IPPool kube-system/pool']);
  });

  it('planAddresses uses --map where several Subnets of a network have the address', () => {
    const parts = { subnets: [subnet('one', '10.8.0.0/24'), subnet('two', '10.8.0.0/16')], pods: [pod('web', 'lan')] };
    expect(kindsOf(plan([entry('10.8.0.7', 'web')], parts))).to.deep.equal(['no Subnet: IPPool kube-system/pool']);
    const mapped = plan([entry('10.8.0.7', 'web')], parts, { map: new Map([['pool', 'two']]) });
    expect(kindsOf(mapped)).to.deep.equal([]);
    expect(rowsOf(mapped)).to.deep.equal(['uid-web lan.default/0 two 10.8.0.7 ']);
    const missing = plan([entry('10.8.0.7', 'web')], parts, { map: new Map([['pool', 'three']]) });
    expect(kindsOf(missing)).to.deep.equal(['no Subnet: --map pool=three', 'no Subnet: Pod default/web']);
  });

  it('planAddresses reports a Pod that does not exist or has ended', () => {
    const pods = [pod('done', 'lan', undefined, { phase: 'Succeeded', restartPolicy: 'Never' })];
    const result = plan([entry('10.8.0.7', 'gone'), entry('10.8.0.8', 'done')], { pods });
    expect(result.conflicts.map(({ kind, what }) => `${kind}: ${what.split(',')[0]}`)).to.deep.equal([
      'no Pod: 10.8.0.7 is for Pod default/gone',
      'no Pod: 10.8.0.8 is for Pod default/done',
    ]);
    expect(rowsOf(result)).to.deep.equal([]);
  });

  it('planAddresses reports an address outside of the Subnet, and a network without a Subnet', () => {
    const pods = [pod('web', 'lan'), pod('other', 'attic')];
    const result = plan([entry('10.99.0.7', 'web'), entry('10.8.0.7', 'other')], { pods });
    expect(kindsOf(result)).to.deep.equal(['no Subnet: Pod default/other', 'out of range: Pod default/web']);
  });

  it('planAddresses reports an address that two Pods have, and two addresses of a family for one NIC', () => {
    const pods = [pod('a', 'lan'), pod('b', 'lan')];
    expect(kindsOf(plan([entry('10.8.0.7', 'a'), entry('10.8.0.7', 'b')], { pods }))).to.deep.equal([
      'allocated twice: Pod default/a and Pod default/b',
    ]);
    expect(kindsOf(plan([entry('10.8.0.7', 'a'), entry('10.8.0.8', 'a')], { pods }))).to.deep.equal([
      'allocated twice: Pod default/a',
    ]);
  });

  it('planAddresses reports an entry that differs from the addresses of its Pod, and an address without an entry', () => {
    const pods = [pod('web', 'lan', [lan('10.8.0.7')]), pod('other', 'lan', [lan('10.8.0.9')])];
    const result = plan([entry('10.8.0.7', 'web'), entry('10.8.0.8', 'other')], { pods });
    expect(kindsOf(result)).to.deep.equal(['entry and Pod: Pod default/other', 'entry and Pod: Pod default/other']);
    expect(result.conflicts.map(({ what }) => what)).to.deep.equal([
      'IPPool kube-system/pool has 10.8.0.8; the Pod shows 10.8.0.9 on net1',
      'it shows 10.8.0.9 on network default/lan, and no valid entry of the source has that',
    ]);
  });

  it('planAddresses reports a network whose new Pods would still get addresses of the other plugin', () => {
    const networks = new Map([['default/lan', JSON.stringify({ type: 'macvlan', ipam: { type: 'whereabouts' } })]]);
    const pods = [pod('a', 'lan'), pod('b', 'lan')];
    const result = plan([entry('10.8.0.7', 'a'), entry('10.8.0.8', 'b')], { networks, pods });
    expect(kindsOf(result)).to.deep.equal(['network in use: NetworkAttachmentDefinition default/lan']);
  });

  it('planAddresses imports no MAC of an ipvlan, which all its Pods share', () => {
    const networks = new Map([['default/lan', JSON.stringify({ type: 'ipvlan', ipam: { type: 'kube-ovn' } })]]);
    const pods = [pod('a', 'lan', [lan('10.8.0.7')]), pod('b', 'lan', [lan('10.8.0.8')])];
    const result = plan([entry('10.8.0.7', 'a'), entry('10.8.0.8', 'b')], { networks, pods });
    expect(kindsOf(result)).to.deep.equal([]);
    expect(rowsOf(result)).to.deep.equal(['uid-a lan.default/0 lan 10.8.0.7 ', 'uid-b lan.default/0 lan 10.8.0.8 ']);
  });

  it('planAddresses finds the Pod of a container by node, address and network name', () => {
    const pods = [
      pod('web', 'lan', [lan('10.8.0.7')]),
      pod('other', 'dmz', [{ name: 'default/dmz', interface: 'net1', ips: ['10.8.0.7'] }]),
    ];
    const networks = new Map([
      ['default/lan', ledgerNetwork],
      ['default/dmz', JSON.stringify({ type: 'macvlan', name: 'perimeter', ipam: { type: 'kube-ovn' } })],
    ]);
    const subnets = [subnet('lan', '10.8.0.0/24'), subnet('dmz', '10.8.0.0/24', 'dmz.default')];
    const result = plan([file('10.8.0.7'), file('10.8.0.7', { network: 'perimeter' })], { pods, networks, subnets });
    expect(kindsOf(result)).to.deep.equal([]);
    expect(rowsOf(result)).to.deep.equal([
      'uid-web lan.default/0 lan 10.8.0.7 0a:58:0a:08:00:07',
      'uid-other dmz.default/0 dmz 10.8.0.7 ',
    ]);
    const elsewhere = pod('elsewhere', 'lan', [lan('10.8.0.8')], { node: 'node-b' });
    const ofOneNode = plan([file('10.8.0.7'), file('10.8.0.8')], { pods: [...pods, elsewhere], networks, subnets });
    expect(kindsOf(ofOneNode)).to.deep.equal(['no Pod: lan/10.8.0.8', 'entry and Pod: Pod default/elsewhere']);
    const mapped = plan(
      [file('10.8.0.7', { network: 'bridge' })],
      { pods, networks, subnets },
      {
        map: new Map([['bridge', 'lan']]),
      },
    );
    expect(kindsOf(mapped)).to.deep.equal([]);
    expect(rowsOf(mapped)).to.have.length(1);
  });

  it('planAddresses applies no Subnet that the ledger has, and reports a Subnet of another source', () => {
    const ledgerWith = (uid: string) =>
      ({ subnets: [{ name: 'lan', source: { uid, generation: 1 } }], allocations: [] }) as unknown as LedgerContents;
    const parts = { pods: [pod('web', 'lan')] };
    const same = plan([entry('10.8.0.7', 'web')], parts, { ledger: ledgerWith('uid-lan') });
    expect(kindsOf(same)).to.deep.equal([]);
    expect(same.plan.subnets).to.deep.equal([]);
    const other = plan([entry('10.8.0.7', 'web')], parts, { ledger: ledgerWith('another') });
    expect(kindsOf(other)).to.deep.equal(['in the ledger: Subnet lan']);
  });

  it('planAddresses leaves out the entries of a conflict, and quarantines addresses that a container may use', () => {
    const networks = new Map([
      ['default/lan', ledgerNetwork],
      ['default/own', JSON.stringify({ type: 'macvlan', ipam: { type: 'whereabouts' } })],
    ]);
    const subnets = [subnet('lan', '10.8.0.0/24'), subnet('own', '10.9.0.0/24', 'own.default')];
    const pods = [
      pod('good', 'lan', [lan('10.8.0.7')]),
      pod('thief', 'lan', [lan('10.8.0.7')]),
      pod('liar', 'lan', [lan('10.8.0.8')]),
      pod('two', 'lan'),
      pod('unready', 'own'),
    ];
    const sources = [
      entry('10.8.0.7', 'good'),
      entry('10.8.0.9', 'liar'),
      entry('10.8.0.10', 'gone'),
      entry('10.8.0.11', 'two'),
      entry('10.8.0.12', 'two'),
      entry('10.9.0.7', 'unready', { network: 'own', interface: '' }),
    ];
    const snapshot = snapshotOf({ networks, subnets, pods });
    const result = planAddresses({ addresses: sources, conflicts: [] }, snapshot, emptyLedger, new Map());
    expect(result.conflicts.filter(({ leavesOut }) => !leavesOut)).to.deep.equal([]);
    const rest = leaveOutConflicts(result.plan, result.conflicts, { ...emptyLedger, subnets });
    expect(rest.attachments.map(({ holder, addresses, mac }) => [holder.name, ...addresses, mac])).to.deep.equal([
      ['good', '10.8.0.7', '0a:58:0a:08:00:07'],
    ]);
    expect(rest.quarantines.map(({ address }) => address)).to.have.members([
      '10.8.0.8',
      '10.8.0.9',
      '10.8.0.10',
      '10.8.0.11',
      '10.8.0.12',
    ]);
  });

  it('planAddresses imports a NIC with the addresses of both families, or not at all', () => {
    const parts = { pods: [pod('web', 'lan', [lan('10.8.0.7', 'fd00::7')]), pod('other', 'lan', [lan('10.8.0.8')])] };
    const both = [entry('10.8.0.7', 'web'), entry('fd00::7', 'web'), entry('10.8.0.8', 'other')];
    const about = { network: 'pool', address: '10.8.0.7' };
    const doubt = { kind: 'entry and reservation', where: 'a reservation', what: '', remedy: '', about } as const;
    for (const [addresses, conflicts] of [
      [both, [doubt]],
      [both.slice(1), []],
      [[entry('10.8.0.9', 'web'), ...both.slice(1)], []],
    ] as const) {
      const result = planAddresses({ addresses, conflicts }, snapshotOf(parts), emptyLedger, new Map());
      const rest = leaveOutConflicts(result.plan, result.conflicts, {
        ...emptyLedger,
        subnets: snapshotOf({}).subnets,
      });
      expect(rest.attachments.map(({ holder }) => holder.name)).to.deep.equal(['other']);
      expect(rest.quarantines.map(({ address }) => address)).to.include.members(['10.8.0.7', 'fd00::7']);
    }
  });

  it('planAddresses imports no MAC that two Pods show', () => {
    const pods = [pod('a', 'lan', [lan('10.8.0.7')]), pod('b', 'lan', [lan('10.8.0.8')])];
    const result = plan([entry('10.8.0.7', 'a'), entry('10.8.0.8', 'b')], { pods });
    expect(kindsOf(result)).to.deep.equal(['allocated twice: Pod default/a and Pod default/b']);
    expect(rowsOf(result)).to.deep.equal(['uid-a lan.default/0 lan 10.8.0.7 ', 'uid-b lan.default/0 lan 10.8.0.8 ']);
  });

  it('planAddresses quarantines at most two addresses for each NIC that a Pod shows', () => {
    const ips = Array.from({ length: 200 }, (_, index) => `10.8.0.${index + 20}`);
    const result = plan([entry('10.8.0.7', 'good')], { pods: [pod('good', 'lan'), pod('liar', 'lan', [lan(...ips)])] });
    expect(result.conflicts.flatMap(({ leavesOut }) => leavesOut?.addresses ?? [])).to.have.length(2);
  });

  it('planAddresses stops at an option that names no Subnet', () => {
    const { conflicts } = plan([], {}, { map: new Map([['pool', 'three']]) });
    expect(conflicts.map(({ leavesOut }) => leavesOut)).to.deep.equal([undefined]);
  });
});
