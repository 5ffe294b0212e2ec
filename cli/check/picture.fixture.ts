/** A small cluster and its ledger, in which all agree. */
import type { Allocation, Subnet } from '../../proto/ipledger.ts';
import { compare } from './compare.ts';
import type { Picture, Pod } from './picture.ts';

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
      resting: '0',
      reserved: '0',
      inUseRange: '10.0.0.2',
      availableRange: '10.0.0.3-10.0.0.199,10.0.0.211-10.0.0.254',
      reservedRange: '',
    },
  ],
  fenced: [],
};
export const lan = 'lan.default.kubernetes.io';
export const web: Pod = {
  namespace: 'default',
  name: 'web',
  identity: 'uid-web',
  hostNetwork: false,
  restartPolicy: 'Always',
  phase: 'Running',
  reason: '',
  deletionAt: undefined,
  graceSeconds: 30,
  annotations: {
    'k8s.v1.cni.cncf.io/networks': 'lan',
    [`${lan}/ip_address`]: '10.0.0.2',
    [`${lan}/mac_address`]: '02:00:00:00:00:0A',
    [`${lan}/cidr`]: '10.0.0.0/24',
    [`${lan}/gateway`]: '10.0.0.1',
    [`${lan}/allocated`]: 'true',
  },
};
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
export const at = Date.parse('2026-01-31T09:00:00.000Z');

/** Objects of the cluster under names of their own where the ledger has something of that name. */
export interface Parts extends Partial<Omit<Picture['ledger'], 'position'>> {
  readonly pods?: readonly Pod[];
  readonly ips?: Picture['cluster']['ips'];
  readonly status?: object;
  readonly poolStatus?: object;
  readonly vips?: Picture['cluster']['vips'];
  readonly nodes?: readonly string[];
  readonly set?: object;
  readonly machines?: readonly string[];
}

/** The picture in which all agree, with some parts of it replaced. */
export function picture(parts: Parts = {}): Picture {
  const { allocations = [allocation], subnets = [subnet], bindings = [], pools = [], reservations = [] } = parts;
  const { freeze } = parts;
  const { pods = [web], ips = [ip], vips = [], nodes = ['node-1'] } = parts;
  const set = { uid: 'uid-db', deleting: false, replicas: 2, firstOrdinal: 0, ...parts.set };
  const networks = new Map([
    ['default/lan', '{"type": "macvlan", "ipam": {"type": "kube-ovn", "provider": "lan.default"}}'],
    ['infra/san', '{"plugins": [{"type": "kube-ovn"}, {"type": "portmap"}]}'],
    ['default/other', '{"type": "macvlan", "ipam": {"type": "host-local"}}'],
  ]);
  return {
    ledger: { position: { epoch: 1, seq: 42, hash: '' }, freeze, allocations, subnets, bindings, pools, reservations },
    cluster: {
      pods,
      ips,
      subnets: [{ name: 'lan', status: { ...status, ...parts.status } }],
      pools: [{ name: 'front', status: { ...parts.poolStatus } }],
      vips,
      nodes: new Set(nodes),
      statefulSets: new Map([['default/db', set]]),
      machines: new Set(parts.machines),
      networks,
    },
    at,
  };
}

/** What is found, without the remedy. */
export const told = (parts: Parts): string[] =>
  compare(picture(parts)).map(({ kind, where, what }) => `${kind}: ${where}: ${what}`);
/** One that lives, and wants and shows nothing yet. */
export const plain = { ...web, annotations: {} };
export const showing = (annotations: Record<string, string>): Pod => ({
  ...web,
  annotations: { ...web.annotations, ...annotations },
});

/** Of the network lan. */
export function attachmentOf(pod: string) {
  return { namespace: 'default', pod, provider: 'lan.default', ordinal: 0 };
}
