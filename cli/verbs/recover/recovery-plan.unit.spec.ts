import { expect } from 'chai';
import { runningPod } from '../../cluster/testing/running-pod.ts';
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import type { KubeOvnIp, KubeOvnSubnet, PodWithOwner, ClusterSnapshot } from '../../cluster/cluster-snapshot.ts';
import { type LedgerContents, planRecovery } from './recovery-plan.ts';

const metadata = { uid: 'uid', resourceVersion: '1', generation: 1, finalizers: [] };
const lan: KubeOvnSubnet = {
  ...metadata,
  kind: 'Subnet',
  name: 'lan',
  spec: { cidrBlock: '10.0.0.0/24', gateway: '', excludeIps: [], provider: 'lan.default', protocol: '' },
};

/** A running Pod, with an address if it is not ''. */
const pod = (name: string, address: string): PodWithOwner => ({
  ...runningPod(
    name,
    address === ''
      ? {}
      : { 'lan.default.kubernetes.io/ip_address': address, 'lan.default.kubernetes.io/allocated': 'true' },
  ),
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

function plan(cluster: Partial<ClusterSnapshot>, ledger: Partial<LedgerContents> = {}) {
  const none = { pools: [], ips: [], vips: [], pods: [], networks: new Map<string, string>() };
  const retention = { statefulSets: new Map<string, never>(), machines: new Set<string>() };
  const snapshot: ClusterSnapshot = { subnets: [lan], ...none, ...retention, ...cluster };
  const { subnets, pools, releases, imports } = planRecovery(snapshot, {
    allocations: [],
    subnets: [lan],
    pools: [],
    ...ledger,
  });
  return {
    configured: [...subnets, ...pools].map(({ name }) => name),
    releases: releases.map(({ allocation: { attachment }, reason }) => `${attachment?.pod}: ${reason}`),
    imports: imports.map(({ holder, addresses }) => `${holder.name}: ${addresses.join()}`),
  };
}

const empty = { configured: [], releases: [], imports: [] };

describe('The recovery plan', () => {
  it('is empty if the ledger agrees with the cluster', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2')] };
    expect(plan({ pods: [pod('a', '10.0.0.2')] }, ledger)).to.deep.equal(empty);
    expect(plan({ pods: [pod('a', '')] }, ledger), 'the annotation follows').to.deep.equal(empty);
  });

  it('configures the missing Subnets', () => {
    expect(plan({}, { subnets: [] })).to.deep.equal({ ...empty, configured: ['lan'] });
  });

  it('imports the address of a Pod without an allocation', () => {
    expect(plan({ pods: [pod('a', '10.0.0.2')] })).to.deep.equal({ ...empty, imports: ['a: 10.0.0.2'] });
  });

  it('releases the allocation of a Pod that does not exist', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2')] };
    expect(plan({}, ledger)).to.deep.equal({ ...empty, releases: ['a: its Pod does not exist'] });
    const recreated = { ...pod('a', ''), identity: 'another' };
    expect(plan({ pods: [recreated] }, ledger)).to.deep.equal({ ...empty, releases: ['a: its Pod does not exist'] });
  });

  it('releases an address that another Pod uses', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2')] };
    expect(plan({ pods: [pod('b', '10.0.0.2')] }, ledger)).to.deep.equal({
      ...empty,
      releases: ['a: Pod default/b uses it'],
      imports: ['b: 10.0.0.2'],
    });
  });

  it('replaces the allocation of a Pod that uses another address', () => {
    const ledger = { allocations: [allocation('a', '10.0.0.2')] };
    expect(plan({ pods: [pod('a', '10.0.0.9')] }, ledger)).to.deep.equal({
      ...empty,
      releases: ['a: the Pod uses 10.0.0.9 and has uid uid-a'],
      imports: ['a: 10.0.0.9'],
    });
  });

  it('keeps the retained address of a StatefulSet member, and imports that of an IP object', () => {
    const owner = { kind: 'StatefulSet', name: 'db', uid: 'set' };
    const statefulSets = new Map([['default/db', { uid: 'set', deleting: false, replicas: 2, firstOrdinal: 0 }]]);
    const ledger = { allocations: [allocation('db-0', '10.0.0.2', { owner })] };
    const ip: KubeOvnIp = {
      ...metadata,
      kind: 'IP',
      name: 'db-1.default.lan.default',
      isOurs: true,
      isReserved: false,
      pod: 'db-1',
      namespace: 'default',
      podType: 'StatefulSet',
      subnet: 'lan',
      addresses: ['10.0.0.3'],
      mac: '',
    };
    expect(plan({ statefulSets, ips: [ip] }, ledger)).to.deep.equal({ ...empty, imports: ['db-1: 10.0.0.3'] });
  });

  it('keeps the address of a stopped virtual machine while the machine exists', () => {
    const owner = { kind: 'VirtualMachineInstance', name: 'vm1', uid: 'instance' };
    const ledger = { allocations: [allocation('vm1', '10.0.0.2', { owner })] };
    expect(plan({ machines: new Set(['default/vm1']) }, ledger)).to.deep.equal(empty);
    expect(plan({}, ledger).releases).to.have.length(1);
  });
});
