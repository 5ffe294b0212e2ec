/** A small cluster and its ledger, without disagreements. */
import { runningPod } from '../../cluster/testing/running-pod.ts';
import type { AddressRecord, Allocation, Subnet } from '../../../proto/generated/ipledger.ts';
import { findDisagreements } from '../find-disagreements.ts';
import type { CheckInput } from '../check-input.ts';
import type { Pod } from '../../cluster/cluster-state.ts';

export const allocation: Allocation = {
  seq: 7,
  attachment: { namespace: 'default', pod: 'web', provider: 'lan.default', ordinal: 0 },
  podUid: 'uid-web',
  node: 'node-1',
  subnet: 'lan',
  addresses: [{ address: '10.0.0.2', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }],
  mac: '02:00:00:00:00:0a',
  interface: 'net1',
  cause: 'ALLOCATION_CAUSE_DYNAMIC',
  routes: [],
  at: '2026-01-31T08:00:00.000Z',
  bindings: [],
  network: 'lan.default',
};
export const subnet: Subnet = {
  name: 'lan',
  spec: {
    cidrBlock: '10.0.0.0/24',
    gateway: '10.0.0.1',
    excludeIps: ['10.0.0.1', '10.0.0.200..10.0.0.210'],
    provider: 'lan.default',
    protocol: 'IPv4',
  },
  usage: [
    {
      family: 4,
      total: '242',
      inUse: '1',
      available: '241',
      cooldown: '0',
      reserved: '0',
      inUseRange: '10.0.0.2',
      availableRange: '10.0.0.3-10.0.0.199,10.0.0.211-10.0.0.254',
      reservedRange: '',
      quarantined: '0',
      quarantinedRange: '',
      free: '',
    },
  ],
  fenced: [],
};
export const lan = 'lan.default.kubernetes.io';
export const web: Pod = runningPod('web', {
  'k8s.v1.cni.cncf.io/networks': 'lan',
  [`${lan}/ip_address`]: '10.0.0.2',
  [`${lan}/mac_address`]: '02:00:00:00:00:0A',
  [`${lan}/cidr`]: '10.0.0.0/24',
  [`${lan}/gateway`]: '10.0.0.1',
  [`${lan}/allocated`]: 'true',
});
export const ip = {
  name: 'web.default.lan.default',
  allocation: '7',
  spec: {
    podName: 'web',
    namespace: 'default',
    subnet: 'lan',
    ipAddress: '10.0.0.2',
    macAddress: '02:00:00:00:00:0a',
  },
};
const status = {
  v4availableIPs: 241,
  v4usingIPs: 1,
  v4availableIPrange: '10.0.0.3-10.0.0.199,10.0.0.211-10.0.0.254',
  v4usingIPrange: '10.0.0.2',
};
export const binding = {
  containerId: 'c0ffee',
  interface: 'net1',
  node: 'node-1',
  bootId: 'boot-1',
  at: '2026-01-31T08:00:01.000Z',
};

/**
 * The replaced parts of a check input. Names without a prefix are the ledger's; those of the
 * cluster differ where both have one.
 */
export interface CheckInputParts extends Partial<Omit<CheckInput['ledger'], 'id' | 'position'>> {
  readonly namespace?: string;
  readonly besideKubeOvn?: boolean;
  readonly pods?: readonly Pod[];
  readonly ips?: CheckInput['cluster']['ips'];
  readonly status?: object;
  readonly poolStatus?: object;
  readonly vips?: CheckInput['cluster']['vips'];
  readonly nodes?: readonly string[];
  readonly nodeFailures?: CheckInput['cluster']['nodeFailures'];
  readonly set?: object;
  readonly machines?: readonly string[];
}

/** The check input without disagreements, with some parts replaced. */
export function createCheckInput(parts: CheckInputParts = {}): CheckInput {
  const { allocations = [allocation], subnets = [subnet], bindings = [], pools = [], reservations = [] } = parts;
  const { freeze, obstacle } = parts;
  const { pods = [web], ips = [ip], vips = [], nodes = ['node-1'] } = parts;
  const set = { uid: 'uid-db', deleting: false, replicas: 2, firstOrdinal: 0, ...parts.set };
  const networks = new Map([
    ['default/lan', '{"type": "macvlan", "ipam": {"type": "kube-ovn", "provider": "lan.default"}}'],
    ['default/chained', '{"plugins": [{"type": "macvlan", "ipam": {"type": "kube-ovn"}}, {"type": "kube-ovn"}]}'],
    ['infra/san', '{"plugins": [{"type": "kube-ovn"}, {"type": "portmap"}]}'],
    ['default/other', '{"type": "macvlan", "ipam": {"type": "host-local"}}'],
  ]);
  return {
    ledger: {
      id: 'ledger-1',
      position: { epoch: 1, seq: 42, hash: '' },
      freeze,
      obstacle,
      allocations,
      subnets,
      bindings,
      pools,
      reservations,
    },
    cluster: {
      namespace: parts.namespace ?? 'ipledger-system',
      besideKubeOvn: parts.besideKubeOvn ?? false,
      pods,
      ips,
      subnets: [{ name: 'lan', status: { ...status, ...parts.status } }],
      pools: [{ name: 'front', status: { ...parts.poolStatus } }],
      vips,
      nodes: new Set(nodes),
      nodeFailures: parts.nodeFailures ?? new Map<string, string>(),
      statefulSets: new Map([['default/db', set]]),
      machines: new Set(parts.machines),
      networks,
    },
  };
}

/** The disagreements as lines, without the remedy. */
export const describeDisagreements = (parts: CheckInputParts): string[] =>
  findDisagreements(createCheckInput(parts)).map(({ kind, where, what }) => `${kind}: ${where}: ${what}`);
/** A living Pod without annotations. */
export const podWithoutAnnotations = { ...web, annotations: {} };
export const podWithAnnotations = (annotations: Record<string, string>): Pod => ({
  ...web,
  annotations: { ...web.annotations, ...annotations },
});

/** The Pod of a node agent. */
export const agentOn = (node: string, agent: 'ready' | 'not ready' = 'ready'): Pod => ({
  ...podWithoutAnnotations,
  namespace: 'ipledger-system',
  name: `agent-${node}`,
  identity: `uid-agent-${node}`,
  hostNetwork: true,
  node,
  agent,
});

/** The attachment of a Pod to the network lan. */
export function attachmentOf(pod: string) {
  return { namespace: 'default', pod, provider: 'lan.default', ordinal: 0 };
}

/** The record of a reserved address of the Subnet lan. */
export const reservedRecord = (reservedFor: string, reason: string): AddressRecord => ({
  subnet: 'lan',
  address: '10.0.0.50',
  state: 'reserved',
  bindings: [],
  releasedAt: '',
  releasedFromUid: '',
  lastSeq: 20,
  availableAt: '',
  pool: '',
  reservation: { reservedFor, reason, mac: '', seq: 20, at: '2026-01-31T08:00:00.000Z' },
});
