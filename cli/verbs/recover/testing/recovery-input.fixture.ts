/** Clusters, ledgers and evidence for the recovery plan, and the plan as short texts. */
import { runningPod } from '../../../cluster/testing/running-pod.ts';
import type { Allocation, SandboxBinding } from '../../../../proto/generated/ipledger.ts';
import type { KubeOvnIp, KubeOvnSubnet, ClusterSnapshot } from '../../../cluster/cluster-snapshot.ts';
import { emptyCluster } from '../../../cluster/testing/empty-cluster.ts';
import type { Pod } from '../../../cluster/cluster-state.ts';
import type { BindingFile } from '../../../../lib/binding-file.ts';
import type { Evidence, ExportedAllocation } from '../add-evidence.ts';
import { type LedgerContents, planRecovery } from '../recovery-plan.ts';

export const metadata = { uid: 'uid', resourceVersion: '1', generation: 1, finalizers: [] };
export const lan: KubeOvnSubnet = {
  ...metadata,
  kind: 'Subnet',
  name: 'lan',
  spec: { cidrBlock: '10.0.0.0/24', gateway: '', excludeIps: [], provider: 'lan.default', protocol: '' },
  namespaces: [],
  hasSelectors: false,
};

/** A running Pod that requests the network lan, with an annotated address if it is not ''. */
export const pod = (name: string, address: string, networks = 'lan'): Pod => ({
  ...runningPod(name, {
    'k8s.v1.cni.cncf.io/networks': networks,
    ...(address !== '' && {
      'lan.default.kubernetes.io/ip_address': address,
      'lan.default.kubernetes.io/allocated': 'true',
    }),
  }),
});

/** The IP object that the pod-watcher wrote for an allocation. */
export const ip = (name: string, address: string, more: Partial<KubeOvnIp> = {}): KubeOvnIp => ({
  ...metadata,
  kind: 'IP',
  name: `${name}.default.lan.default`,
  isOurs: true,
  allocation: 20,
  isReserved: false,
  pod: name,
  namespace: 'default',
  podType: '',
  subnet: 'lan',
  addresses: [address],
  mac: '',
  ...more,
});
export const bindings = [{ containerId: 'c', interface: 'net1', node: 'node-1', bootId: 'b', at: '' }];
/** A binding of the ledger, also one of a released address. */
export const boundTo = ({ attachment, subnet, addresses, seq, bindings: [binding] }: Allocation): SandboxBinding => ({
  ...(attachment && { attachment }),
  ...(binding && { binding }),
  subnet,
  addresses: addresses.map(({ address }) => address),
  allocationSeq: seq,
});

export const allocation = (name: string, address: string, more: Partial<Allocation> = {}): Allocation => ({
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

export const networks = new Map([['default/lan', '{"type":"macvlan","ipam":{"type":"kube-ovn"}}']]);

/** The binding file that the agent of node-1 wrote. */
export const file = (name: string, address: string, more: Partial<BindingFile> = {}): BindingFile => ({
  version: 1,
  namespace: 'default',
  pod: name,
  podUid: `uid-${name}`,
  provider: 'lan.default',
  containerId: `c-${name}`,
  interface: 'net1',
  node: 'node-1',
  bootId: 'boot',
  addresses: [address],
  netns: '',
  boundAs: '',
  netnsFolder: '',
  isDeleted: false,
  isPending: false,
  epoch: 1,
  ...more,
});
export const exportedAs = (seq: number, name: string, address: string): ExportedAllocation => ({
  namespace: 'default',
  pod: name,
  uid: `uid-${name}`,
  seq,
  provider: 'lan.default',
  ordinal: 0,
  interface: '',
  subnet: 'lan',
  addresses: [address],
  mac: '',
});

export function plan(
  cluster: Partial<ClusterSnapshot>,
  ledger: Partial<LedgerContents> = {},
  { exported = [], bound = [] }: Partial<Evidence> = {},
) {
  const snapshot: ClusterSnapshot = { ...emptyCluster, subnets: [lan], networks, ...cluster };
  const { subnets, pools, releases, staleBindings, imports, conflicts, quarantines } = planRecovery(
    snapshot,
    {
      allocations: [],
      subnets: [lan],
      pools: [],
      bindings: (ledger.allocations ?? []).filter((each) => each.bindings.length > 0).map(boundTo),
      ...ledger,
    },
    { exported, bound },
  );
  return {
    configured: [...subnets, ...pools].map(({ name }) => name),
    releases: releases.map(({ allocation: { attachment }, reason }) => `${attachment?.pod}: ${reason}`),
    ended: staleBindings.map(({ attachment }) => attachment?.pod),
    imports: imports.map(({ holder, addresses }) => `${holder.name}: ${addresses.join()}`),
    conflicts: conflicts.map(({ kind, where }) => `${kind}: ${where}`),
    quarantined: quarantines.map(({ address }) => address),
  };
}

export const empty = { configured: [], releases: [], ended: [], imports: [], conflicts: [], quarantined: [] };
