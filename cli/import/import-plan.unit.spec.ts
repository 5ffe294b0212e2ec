import { expect } from 'chai';
import { runningPod } from '../cluster/testing/running-pod.ts';
import { leaveOutConflicts } from './conflict.ts';
import { findObservedAttachments } from './find-attachments.ts';
import { findConflicts, type LedgerContents, planImport } from './import-plan.ts';
import type { KubeOvnIp, KubeOvnSubnet, ClusterSnapshot } from '../cluster/cluster-snapshot.ts';
import { emptyCluster } from '../cluster/testing/empty-cluster.ts';
import type { Pod } from '../cluster/cluster-state.ts';

const metadata = { uid: 'uid', resourceVersion: '1', generation: 1, finalizers: ['kubeovn.io/kube-ovn-controller'] };
const subnet = (name: string, cidrBlock: string, provider = 'lan.default'): KubeOvnSubnet => ({
  ...metadata,
  kind: 'Subnet',
  name,
  uid: `uid-${name}`,
  spec: { cidrBlock, gateway: '', excludeIps: [], provider, protocol: '' },
  namespaces: [],
  hasSelectors: false,
});
const pod = (name: string, annotations: Readonly<Record<string, string>>): Pod => ({
  ...runningPod(name, { 'k8s.v1.cni.cncf.io/networks': 'lan,attic', ...annotations }),
});
const ip = (name: string, addresses: readonly string[], more: Partial<KubeOvnIp> = {}): KubeOvnIp => ({
  ...metadata,
  kind: 'IP',
  name,
  isOurs: false,
  allocation: 0,
  isReserved: false,
  pod: name.split('.')[0] ?? '',
  namespace: 'default',
  podType: '',
  subnet: 'lan',
  addresses,
  mac: '',
  ...more,
});
const has = (address: string, provider = 'lan.default') => ({
  [`${provider}.kubernetes.io/ip_address`]: address,
  [`${provider}.kubernetes.io/allocated`]: 'true',
});
const snapshotOf = (parts: Partial<ClusterSnapshot>): ClusterSnapshot => ({
  ...emptyCluster,
  subnets: [subnet('lan', '10.0.0.0/24')],
  networks: new Map(['default/lan', 'default/attic'].map((name) => [name, '{"ipam":{"type":"kube-ovn"}}'])),
  ...parts,
});
const emptyLedger: LedgerContents = { subnets: [], allocations: [] };
const kindsOf = (parts: Partial<ClusterSnapshot>, ledger = emptyLedger): string[] => {
  const snapshot = snapshotOf(parts);
  return findConflicts(planImport(snapshot), snapshot, ledger).map(({ kind, where }) => `${kind}: ${where}`);
};

describe('An import from Kube-OVN', () => {
  it('An import from Kube-OVN finds several NICs of one network by their interfaces', () => {
    const networks = new Map([['default/nic', '{"type":"kube-ovn"}']]);
    const annotations = {
      'k8s.v1.cni.cncf.io/networks': 'nic@net1,nic@net2',
      ...has('10.0.0.5', 'nic.default.ovn.net2'),
      ...has('10.0.0.4', 'nic.default.ovn.net1'),
    };
    const attachments = findObservedAttachments(snapshotOf({ networks, pods: [pod('twice', annotations)] }));
    expect(
      attachments.map(({ provider, ordinal, interface: name, addresses }) => [provider, ordinal, name, ...addresses]),
    ).to.deep.equal([
      ['nic.default.ovn', 1, 'net2', '10.0.0.5'],
      ['nic.default.ovn', 0, 'net1', '10.0.0.4'],
    ]);
  });

  it('An import from Kube-OVN deletes the IP objects of ended Pods, and ignores those of ipledger and of Nodes', () => {
    const ended = { ...pod('ended', has('10.0.0.4')), phase: 'Failed', restartPolicy: 'Never' };
    const ips = [
      ip('ended.default.lan.default', ['10.0.0.4']),
      ip('ours.default.lan.default', ['10.0.0.5'], { isOurs: true }),
      ip('node-a', ['100.64.0.2'], { pod: '', namespace: '' }),
    ];
    const plan = planImport(snapshotOf({ pods: [ended], ips }));
    expect(plan.attachments).to.deep.equal([]);
    expect(plan.leftovers.map(({ name }) => name)).to.deep.equal(['ended.default.lan.default']);
    expect(plan.foreign.map(({ name }) => name)).to.deep.equal(['node-a']);
  });

  it('An import from Kube-OVN imports the address of a StatefulSet member without a Pod', () => {
    const statefulSets = new Map([['default/db', { uid: 'uid-db', firstOrdinal: 1, replicas: 2, deleting: false }]]);
    const member = (ordinal: number) =>
      ip(`db-${ordinal}.default.lan.default`, [`10.0.0.${ordinal + 2}`], { podType: 'StatefulSet' });
    const { attachments, leftovers } = planImport(snapshotOf({ statefulSets, ips: [0, 1, 2, 3].map(member) }));
    expect(attachments.map(({ holder }) => holder.name)).to.deep.equal(['db-1', 'db-2']);
    expect(leftovers.map(({ pod: name }) => name)).to.deep.equal(['db-0', 'db-3']);
  });

  it('An import from Kube-OVN reports invalid, contradictory and out-of-range annotations as conflicts', () => {
    const pods = [
      pod('mute', { 'lan.default.kubernetes.io/allocated': 'true' }),
      pod('garbled', has('10.0.0.x')),
      pod('astray', has('10.1.0.4')),
      pod('homeless', has('10.0.0.6', 'attic.default')),
      pod('routed', { ...has('10.0.0.7'), 'lan.default.kubernetes.io/routes': '10.9.0.0/16' }),
      pod('torn', has('10.0.0.8')),
      pod('silent', {}),
    ];
    const ips = [ip('torn.default.lan.default', ['10.0.0.9']), ip('silent.default.lan.default', ['10.0.0.10'])];
    expect(kindsOf({ pods, ips })).to.deep.equal([
      'invalid annotation: Pod default/mute',
      'invalid annotation: Pod default/garbled',
      'out of range: Pod default/astray',
      'no Subnet: Pod default/homeless',
      'invalid annotation: Pod default/routed',
      'IP object and annotation: Pod default/torn',
      'IP object and annotation: IP object silent.default.lan.default',
    ]);
  });

  it('An import from Kube-OVN leaves out an address of an annotation if a record shows another holder, and quarantines it if no record decides', () => {
    const pods = [
      pod('victim', has('10.0.0.4')),
      pod('thief', has('10.0.0.4')),
      pod('one', has('10.0.0.5')),
      pod('other', has('10.0.0.5')),
      pod('alone', has('10.0.0.6')),
      pod('homeless', has('10.0.0.7', 'attic.default')),
      pod('liar', { ...has('10.0.0.8'), 'k8s.v1.cni.cncf.io/networks': '' }),
      pod('torn', has('10.0.0.9')),
    ];
    const machine = ip('vm.default.lan.default', ['10.0.0.11'], { podType: 'VirtualMachine' });
    const ips = [
      ip('victim.default.lan.default', ['10.0.0.4']),
      ip('torn.default.lan.default', ['10.0.0.10']),
      ip('gone.default.lan.default', ['10.0.0.12']),
      machine,
    ];
    const snapshot = snapshotOf({ pods, ips });
    const plan = planImport(snapshot);
    const conflicts = findConflicts(plan, snapshot, emptyLedger);
    expect(conflicts.every(({ leavesOut }) => leavesOut)).to.equal(true);
    const rest = leaveOutConflicts(plan, conflicts, { ...emptyLedger, subnets: snapshot.subnets });
    expect(rest.attachments.map(({ holder, addresses }) => `${holder.name} ${addresses.join()}`)).to.deep.equal([
      'victim 10.0.0.4',
      'alone 10.0.0.6',
      'torn 10.0.0.10',
    ]);
    expect(rest.leftovers.map(({ pod: name }) => name)).to.deep.equal(['gone']);
    expect(rest.quarantines.map(({ address }) => address)).to.have.members(['10.0.0.5', '10.0.0.9', '10.0.0.11']);
  });

  it('An import from Kube-OVN counts at most 24 annotated NICs of a Pod', () => {
    const entries = Array.from({ length: 2_000 }, (_, index) => Object.entries(has('10.0.0.4', `n${index}.default`)));
    const liar = pod('liar', Object.fromEntries(entries.flat()));
    expect(findObservedAttachments(snapshotOf({ pods: [liar] }))).to.have.length(24);
  });

  it('An import from Kube-OVN takes no IP object of another Pod by an annotation that names its virtual machine', () => {
    const pods = [pod('thief', { ...has('10.0.0.4'), 'lan.default.kubernetes.io/virtualmachine': 'victim' })];
    const [attachment] = findObservedAttachments(
      snapshotOf({ pods, ips: [ip('victim.default.lan.default', ['10.0.0.4'])] }),
    );
    expect(attachment).to.include({ isRecorded: false, ipObject: undefined });
  });

  it('An import from Kube-OVN reports an address, MAC or CIDR that two objects have as a conflict', () => {
    const mac = { 'lan.default.kubernetes.io/mac_address': '00:00:00:00:00:AA' };
    const pods = [pod('one', { ...has('10.0.0.4'), ...mac }), pod('other', { ...has('10.0.0.4'), ...mac })];
    const subnets = [
      subnet('lan', '10.0.0.0/24'),
      subnet('too', '10.0.0.128/25'),
      subnet('far', '10.0.0.0/24', 'far.default'),
    ];
    expect(kindsOf({ pods, subnets })).to.deep.equal([
      'overlap: Subnets lan and too',
      'allocated twice: Pod default/one and Pod default/other',
      'allocated twice: Pod default/one and Pod default/other',
    ]);
  });

  it('An import from Kube-OVN reports other allocations of the ledger as conflicts, but not those of an earlier import', () => {
    const allocation = (name: string, address: string) => ({
      seq: 7,
      attachment: { namespace: 'default', pod: name, provider: 'lan.default', ordinal: 0 },
      podUid: `uid-${name}`,
      subnet: 'lan',
      addresses: [{ address, cidr: '10.0.0.0/24', gateway: '10.0.0.1' }],
    });
    const ledgerWith = (...allocations: object[]) => ({ subnets: [], allocations }) as unknown as LedgerContents;
    const pods = [pod('web', has('10.0.0.4'))];
    expect(kindsOf({ pods }, ledgerWith(allocation('web', '10.0.0.4')))).to.deep.equal([]);
    expect(kindsOf({ pods }, ledgerWith(allocation('web', '10.0.0.5')))).to.deep.equal([
      'in the ledger: Pod default/web',
    ]);
    expect(kindsOf({ pods }, ledgerWith(allocation('other', '10.0.0.4')))).to.deep.equal([
      'in the ledger: Pod default/web',
    ]);
    const subnets = [{ name: 'lan', source: { uid: 'another', generation: 1 } }];
    expect(kindsOf({ pods }, { subnets, allocations: [] } as unknown as LedgerContents)).to.deep.equal([
      'in the ledger: Subnet lan',
    ]);
  });
});
