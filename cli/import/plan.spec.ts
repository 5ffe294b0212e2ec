import { expect } from 'chai';
import { claimsOf } from './claims.ts';
import { conflictsOf, type Known } from './conflicts.ts';
import { planOf } from './plan.ts';
import type { LeftIp, LeftSubnet, PlacedPod, Snapshot } from '../snapshot.ts';

const left = { uid: 'uid', resourceVersion: '1', generation: 1, finalizers: ['kubeovn.io/kube-ovn-controller'] };
const subnet = (name: string, cidrBlock: string, provider = 'lan.default'): LeftSubnet => ({
  ...left,
  kind: 'Subnet',
  name,
  uid: `uid-${name}`,
  spec: { cidrBlock, gateway: '', excludeIps: [], provider, protocol: '' },
});
const pod = (name: string, annotations: Readonly<Record<string, string>>): PlacedPod => ({
  namespace: 'default',
  name,
  identity: `uid-${name}`,
  hostNetwork: false,
  restartPolicy: 'Always',
  phase: 'Running',
  reason: '',
  deletionAt: undefined,
  graceSeconds: 30,
  annotations,
  node: 'node-1',
  owner: undefined,
});
const ip = (name: string, addresses: readonly string[], more: Partial<LeftIp> = {}): LeftIp => ({
  ...left,
  kind: 'IP',
  name,
  ours: false,
  reserved: false,
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
const snapshotOf = (parts: Partial<Snapshot>): Snapshot => ({
  subnets: [subnet('lan', '10.0.0.0/24')],
  pools: [],
  ips: [],
  vips: [],
  pods: [],
  statefulSets: new Map(),
  machines: new Set(),
  networks: new Map(),
  at: Date.UTC(2026, 0, 1),
  ...parts,
});
const nothing: Known = { subnets: [], allocations: [] };
const kindsOf = (parts: Partial<Snapshot>, known = nothing): string[] => {
  const snapshot = snapshotOf(parts);
  return conflictsOf(planOf(snapshot), snapshot, known).map(({ kind, where }) => `${kind}: ${where}`);
};

describe('an import of what Kube-OVN gave', () => {
  it('finds the NICs of a network that a Pod has several times, each by its interface', () => {
    const networks = new Map([['default/nic', '{"type":"kube-ovn"}']]);
    const annotations = {
      'k8s.v1.cni.cncf.io/networks': 'nic@net1,nic@net2',
      ...has('10.0.0.5', 'nic.default.ovn.net2'),
      ...has('10.0.0.4', 'nic.default.ovn.net1'),
    };
    const claims = claimsOf(snapshotOf({ networks, pods: [pod('twice', annotations)] }));
    expect(
      claims.map(({ provider, ordinal, interface: name, addresses }) => [provider, ordinal, name, ...addresses]),
    ).to.deep.equal([
      ['nic.default.ovn', 1, 'net2', '10.0.0.5'],
      ['nic.default.ovn', 0, 'net1', '10.0.0.4'],
    ]);
  });

  it('leaves what has ended to nobody, and what is the ledger’s or no Pod’s alone', () => {
    const ended = { ...pod('ended', has('10.0.0.4')), phase: 'Failed', restartPolicy: 'Never' };
    const ips = [
      ip('ended.default.lan.default', ['10.0.0.4']),
      ip('ours.default.lan.default', ['10.0.0.5'], { ours: true }),
      ip('node-a', ['100.64.0.2'], { pod: '', namespace: '' }),
    ];
    const plan = planOf(snapshotOf({ pods: [ended], ips }));
    expect(plan.claims).to.deep.equal([]);
    expect(plan.leftovers.map(({ name }) => name)).to.deep.equal(['ended.default.lan.default']);
    expect(plan.foreign.map(({ name }) => name)).to.deep.equal(['node-a']);
  });

  it('keeps the address of a StatefulSet’s member that is away while the set wants it', () => {
    const statefulSets = new Map([['default/db', { uid: 'uid-db', firstOrdinal: 1, replicas: 2, deleting: false }]]);
    const member = (ordinal: number) =>
      ip(`db-${ordinal}.default.lan.default`, [`10.0.0.${ordinal + 2}`], { podType: 'StatefulSet' });
    const { claims, leftovers } = planOf(snapshotOf({ statefulSets, ips: [0, 1, 2, 3].map(member) }));
    expect(claims.map(({ holder }) => holder.name)).to.deep.equal(['db-1', 'db-2']);
    expect(leftovers.map(({ pod: name }) => name)).to.deep.equal(['db-0', 'db-3']);
  });

  it('is refused for what is malformed, out of range, of no Subnet, or said in two ways', () => {
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
      'not understood: Pod default/mute',
      'not understood: Pod default/garbled',
      'out of range: Pod default/astray',
      'no Subnet: Pod default/homeless',
      'not understood: Pod default/routed',
      'IP object and annotation: Pod default/torn',
      'IP object and annotation: IP object silent.default.lan.default',
    ]);
  });

  it('is refused for what two have: an address, a MAC, a CIDR of one network', () => {
    const mac = { 'lan.default.kubernetes.io/mac_address': '00:00:00:00:00:AA' };
    const pods = [pod('one', { ...has('10.0.0.4'), ...mac }), pod('other', { ...has('10.0.0.4'), ...mac })];
    const subnets = [
      subnet('lan', '10.0.0.0/24'),
      subnet('too', '10.0.0.128/25'),
      subnet('far', '10.0.0.0/24', 'far.default'),
    ];
    expect(kindsOf({ pods, subnets })).to.deep.equal([
      'overlap: Subnets lan and too',
      'held twice: Pod default/one and Pod default/other',
      'held twice: Pod default/one and Pod default/other',
    ]);
  });

  it('is refused for what the ledger says otherwise, and not for what it has taken over already', () => {
    const allocation = (name: string, address: string) => ({
      seq: 7,
      attachment: { namespace: 'default', pod: name, provider: 'lan.default', ordinal: 0 },
      podUid: `uid-${name}`,
      subnet: 'lan',
      addresses: [{ address, cidr: '10.0.0.0/24', gateway: '10.0.0.1' }],
    });
    const known = (...allocations: object[]) => ({ subnets: [], allocations }) as unknown as Known;
    const pods = [pod('web', has('10.0.0.4'))];
    expect(kindsOf({ pods }, known(allocation('web', '10.0.0.4')))).to.deep.equal([]);
    expect(kindsOf({ pods }, known(allocation('web', '10.0.0.5')))).to.deep.equal(['in the ledger: Pod default/web']);
    expect(kindsOf({ pods }, known(allocation('thief', '10.0.0.4')))).to.deep.equal(['in the ledger: Pod default/web']);
    const subnets = [{ name: 'lan', source: { uid: 'another', generation: 1 } }];
    expect(kindsOf({ pods }, { subnets, allocations: [] } as unknown as Known)).to.deep.equal([
      'in the ledger: Subnet lan',
    ]);
  });
});
