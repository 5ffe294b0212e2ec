import { expect } from 'chai';
import type { Allocation } from '../../proto/ipledger.ts';
import type { LeftIp, LeftSubnet, PlacedPod, Snapshot } from '../snapshot.ts';
import { type Held, recoveryOf } from './plan.ts';

const left = { uid: 'uid', resourceVersion: '1', generation: 1, finalizers: [] };
const lan: LeftSubnet = {
  ...left,
  kind: 'Subnet',
  name: 'lan',
  spec: { cidrBlock: '10.0.0.0/24', gateway: '', excludeIps: [], provider: 'lan.default', protocol: '' },
};

/** A Pod that lives and shows an address. */
const pod = (name: string, address: string): PlacedPod => ({
  namespace: 'default',
  name,
  identity: `uid-${name}`,
  hostNetwork: false,
  restartPolicy: 'Always',
  phase: 'Running',
  reason: '',
  deletionAt: undefined,
  graceSeconds: 30,
  annotations:
    address === ''
      ? {}
      : { 'lan.default.kubernetes.io/ip_address': address, 'lan.default.kubernetes.io/allocated': 'true' },
  node: 'node-1',
  owner: undefined,
});

const allocation = (name: string, address: string, more: Partial<Allocation> = {}): Allocation => ({
  seq: 7,
  attachment: { namespace: 'default', pod: name, provider: 'lan.default', ordinal: 0 },
  podUid: `uid-${name}`,
  node: '',
  subnet: 'lan',
  addresses: [{ address, cidr: '', gateway: '' }],
  mac: '',
  interface: '',
  cause: 'ALLOCATION_CAUSE_DYNAMIC',
  routes: [],
  at: '',
  bindings: [],
  network: 'lan.default',
  ...more,
});

function planned(cluster: Partial<Snapshot>, held: Partial<Held> = {}) {
  const none = { pools: [], ips: [], vips: [], pods: [], networks: new Map<string, string>() };
  const kept = { statefulSets: new Map<string, never>(), machines: new Set<string>() };
  const snapshot: Snapshot = { subnets: [lan], ...none, ...kept, at: Date.UTC(2026, 0, 1), ...cluster };
  const { subnets, pools, releases, imports } = recoveryOf(snapshot, {
    allocations: [],
    subnets: [lan],
    pools: [],
    ...held,
  });
  return {
    configured: [...subnets, ...pools].map(({ name }) => name),
    releases: releases.map(({ allocation: { attachment }, why }) => `${attachment?.pod}: ${why}`),
    imports: imports.map(({ holder, addresses }) => `${holder.name}: ${addresses.join()}`),
  };
}

const nothing = { configured: [], releases: [], imports: [] };

describe('What a restored ledger needs', () => {
  it('is nothing where it says what the cluster shows', () => {
    const held = { allocations: [allocation('a', '10.0.0.2')] };
    expect(planned({ pods: [pod('a', '10.0.0.2')] }, held)).to.deep.equal(nothing);
    expect(planned({ pods: [pod('a', '')] }, held), 'it is about to be shown').to.deep.equal(nothing);
  });

  it('are the Subnets that it does not know', () => {
    expect(planned({}, { subnets: [] })).to.deep.equal({ ...nothing, configured: ['lan'] });
  });

  it('is what a Pod uses and it does not know', () => {
    expect(planned({ pods: [pod('a', '10.0.0.2')] })).to.deep.equal({ ...nothing, imports: ['a: 10.0.0.2'] });
  });

  it('is to take back what is held by a Pod that is gone', () => {
    const held = { allocations: [allocation('a', '10.0.0.2')] };
    expect(planned({}, held)).to.deep.equal({ ...nothing, releases: ['a: its Pod is gone'] });
    const again = { ...pod('a', ''), identity: 'another' };
    expect(planned({ pods: [again] }, held)).to.deep.equal({ ...nothing, releases: ['a: its Pod is gone'] });
  });

  it('is first to take back what another Pod uses by now', () => {
    const held = { allocations: [allocation('a', '10.0.0.2')] };
    expect(planned({ pods: [pod('b', '10.0.0.2')] }, held)).to.deep.equal({
      ...nothing,
      releases: ['a: Pod default/b uses it'],
      imports: ['b: 10.0.0.2'],
    });
  });

  it('is to give a Pod the other address that it uses by now', () => {
    const held = { allocations: [allocation('a', '10.0.0.2')] };
    expect(planned({ pods: [pod('a', '10.0.0.9')] }, held)).to.deep.equal({
      ...nothing,
      releases: ['a: the Pod uses 10.0.0.9 and has uid uid-a'],
      imports: ['a: 10.0.0.9'],
    });
  });

  it('leaves a member of a StatefulSet what is kept for it, and brings back what its IP object says', () => {
    const owner = { kind: 'StatefulSet', name: 'db', uid: 'set' };
    const statefulSets = new Map([['default/db', { uid: 'set', deleting: false, replicas: 2, firstOrdinal: 0 }]]);
    const held = { allocations: [allocation('db-0', '10.0.0.2', { owner })] };
    const ip: LeftIp = {
      ...left,
      kind: 'IP',
      name: 'db-1.default.lan.default',
      ours: true,
      reserved: false,
      pod: 'db-1',
      namespace: 'default',
      podType: 'StatefulSet',
      subnet: 'lan',
      addresses: ['10.0.0.3'],
      mac: '',
    };
    expect(planned({ statefulSets, ips: [ip] }, held)).to.deep.equal({ ...nothing, imports: ['db-1: 10.0.0.3'] });
  });

  it('leaves a virtual machine that is stopped what it had, as long as there is the machine', () => {
    const owner = { kind: 'VirtualMachineInstance', name: 'vm1', uid: 'instance' };
    const held = { allocations: [allocation('vm1', '10.0.0.2', { owner })] };
    expect(planned({ machines: new Set(['default/vm1']) }, held)).to.deep.equal(nothing);
    expect(planned({}, held).releases).to.have.length(1);
  });
});
