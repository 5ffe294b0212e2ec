/** A cluster view with networks, Subnets, IPPools and Vips, and plans for Pods in that cluster. */
import { networksAnnotation, toPod } from '../../../../kubernetes/objects/pod.ts';
import type { HeldAttachment } from '../attachment-matching.ts';
import type { NamespaceRestriction } from '../../../../kubernetes/objects/subnet.ts';
import { classifyNetwork } from '../../../network-definitions/classify-network.ts';
import { planPod } from '../plan.ts';
import type { ConflictingAddress } from '../../conflicting-addresses.ts';
import type { IpamClaimState, ClusterView } from '../../../cluster-view.ts';

const configs: Record<string, string> = {
  'default/macvlan': '{"type":"macvlan","ipam":{"type":"kube-ovn","provider":"macvlan.default"}}',
  'default/vlan': '{"type":"vlan","ipam":{"type":"kube-ovn","provider":"vlan.default"}}',
  'default/capable':
    '{"type":"macvlan","capabilities":{"mac":true},"ipam":{"type":"kube-ovn","provider":"capable.default"}}',
  'default/chained':
    '{"plugins":[{"type":"macvlan","ipam":{"type":"kube-ovn","provider":"chained.default"}},{"type":"kube-ovn"}]}',
  'default/attachnet': '{"type":"kube-ovn","provider":"attachnet.default.ovn"}',
  'default/wrong': '{"type":"macvlan","ipam":{"type":"kube-ovn","provider":"macvlan.default"}}',
  'default/closed': '{"type":"macvlan","ipam":{"type":"kube-ovn","provider":"closed.default"}}',
  'default/unbound': '{"type":"kube-ovn"}',
  'default/nameless': '{"type":"kube-ovn"}',
  'default/local': '{"type":"macvlan","ipam":{"type":"host-local"}}',
  'default/empty': '',
  'default/ovn-network': '{"type":"ovn-k8s-cni-overlay"}',
  'default/nfn': '{"type":"ovn4nfvk8s-cni"}',
  'default/broken': '{not json',
};
const providers: Record<string, string[]> = {
  'macvlan.default': ['macvlan', 'macvlan-2', 'macvlan-shop'],
  'closed.default': ['closed'],
  ovn: ['ovn-shop', 'by-name', 'pod-network', 'namespace-network'],
  'vlan.default': ['vlan'],
  'capable.default': ['capable'],
  'chained.default': ['chained'],
  'attachnet.default.ovn': ['attachnet'],
  'wrong.default': ['wrong'],
  'nameless.default.ovn': ['nameless'],
  'ovn4nfv.kube-system.ovn': ['ovn-ls-25', 'ovn-ls-26', 'ovn-of-shop'],
};
const bindings: Record<string, NamespaceRestriction> = {
  'macvlan-shop': { namespaces: ['shop'], selectors: [] },
  'ovn-of-shop': { namespaces: ['shop'], selectors: [] },
  closed: { namespaces: ['shop', 'web'], selectors: [] },
  'ovn-shop': { namespaces: ['shop'], selectors: [{ matchLabels: { team: 'shop' }, matchExpressions: [] }] },
};
/** A cluster with the networks, Subnets, IPPools and Vips of the plans. */
export const clusterView: ClusterView = {
  network: (key) => {
    const [namespace = '', name = ''] = key.split('/');
    const config = configs[key];
    return config === undefined ? undefined : classifyNetwork({ namespace, name, config });
  },
  subnets: {
    serves: (name) => Object.values(providers).some((names) => names.includes(name)),
    exists: (name) => name === 'coming' || Object.values(providers).some((names) => names.includes(name)),
    restrictionOf: (name) => bindings[name],
    providerOf: (name) => Object.entries(providers).find(([, names]) => names.includes(name))?.[0] ?? '',
    servingProvider: (provider) => providers[provider] ?? [],
    whyNot: () => '',
    whyNotServing: (name) => (name === 'coming' ? 'Subnet coming is not in force yet' : `there is no Subnet ${name}`),
  },
  pools: {
    subnetOf: (name) => pools[name],
    namespacesOf: (name) => (name.endsWith('pool-of-shop') ? ['shop'] : []),
    whyNot: (name) => `there is no IPPool ${name}`,
    ofNamespace: (namespace, listed) => [...listed, ...(namespace === 'drawing' ? ['of-namespace'] : [])],
  },
  vip: (name) => {
    const vip = vips[name];
    return vip && { namespace: '', ...vip };
  },
  ipamClaim: (key) => claims[key] ?? { problem: '' },
  namespaceOf: (name) => {
    const namespace = namespaces[name];
    return namespace && { labels: {}, ...namespace };
  },
  hasOtherPod: (node) => node === 'shared-node',
  ordinalStart: ({ name }) => ({ web: 0, late: 5 })[name],
};
const pools: Record<string, string> = {
  'pool-1': 'macvlan-2',
  'vlan-pool': 'vlan',
  'of-namespace': 'pod-network',
  'pool-of-shop': 'macvlan-2',
  'pool-in-shop': 'macvlan-shop',
  'primary-pool': 'pod-network',
  'primary-pool-of-shop': 'ovn-shop',
};
const vips: Record<string, { subnet: string; addresses: string[]; namespace?: string }> = {
  'vip-of-shop': { subnet: 'macvlan-2', addresses: ['10.0.2.8'], namespace: 'shop' },
  web: { subnet: 'macvlan-2', addresses: ['10.0.2.9'] },
  elsewhere: { subnet: 'vlan', addresses: ['10.0.3.9'] },
};
const claims: Record<string, IpamClaimState> = {
  'default/vm1': {
    object: { network: 'macvlan', deleting: false },
    reserved: { subnet: 'macvlan-2', addresses: ['10.0.2.7'], owner: 'ipamclaim/default/vm1' },
    problem: '',
  },
  'default/dual': {
    object: { network: 'macvlan', deleting: false },
    reserved: { subnet: 'macvlan', addresses: ['10.0.1.7', 'fd00::7'], owner: 'ipamclaim/default/dual' },
    problem: '',
  },
  'default/six': {
    object: { network: 'macvlan', deleting: false },
    reserved: { subnet: 'macvlan', addresses: ['fd00::7'], owner: 'ipamclaim/default/six' },
    problem: '',
  },
  'default/new': { object: { network: 'macvlan', deleting: false }, problem: '' },
  'default/full': { object: { network: 'macvlan', deleting: false }, problem: 'Subnet macvlan is full' },
  'default/deleted': { object: { network: 'macvlan', deleting: true }, problem: '' },
  'default/of-vlan': { object: { network: 'vlan', deleting: false }, problem: '' },
  'shop/vm1': { object: { network: 'macvlan', deleting: false }, problem: '' },
};
const namespaces: Record<
  string,
  { subnets: string[]; pools: string[]; labels?: Record<string, string>; problems?: string[] }
> = {
  labelled: { subnets: ['ovn-shop'], pools: [], labels: { team: 'shop' } },
  crowded: { subnets: [], pools: [], problems: ['annotation logical_switch has 257 names'] },
  listing: { subnets: ['ovn-shop', 'macvlan'], pools: [] },
  'listing-pool': { subnets: [], pools: ['pool-1', 'primary-pool-of-shop'] },
  shop: { subnets: ['ovn-shop'], pools: [] },
  single: { subnets: ['namespace-network'], pools: ['primary-pool'] },
  default: { subnets: [], pools: [] },
  served: { subnets: ['nowhere', 'pod-network', 'namespace-network'], pools: [] },
  waiting: { subnets: ['nowhere', 'coming'], pools: [] },
  foreign: { subnets: ['nowhere'], pools: [] },
  drawing: { subnets: ['namespace-network', 'pod-network'], pools: [] },
};

interface PlanOptions {
  readonly phase?: string;
  readonly owner?: { readonly name: string };
  readonly namespace?: string;
  readonly held?: readonly HeldAttachment[];
  readonly conflicts?: readonly ConflictingAddress[];
  /** The node whose kubelet wrote the Pod as a mirror. */
  readonly mirrorOn?: string;
}

/** Plans Pod `<owner>-1`; without an owner `web-1`. */
export function planOf(
  networks: string,
  annotations: Record<string, string> = {},
  { owner, namespace = 'default', held, conflicts, phase = 'Pending', mirrorOn }: PlanOptions = {},
) {
  const hash = 'd41d8cd98f00b204e9800998ecf8427e';
  const mirror = mirrorOn !== undefined && { 'kubernetes.io/config.mirror': hash, 'kubernetes.io/config.hash': hash };
  const node = mirrorOn !== undefined && { apiVersion: 'v1', kind: 'Node', name: mirrorOn, uid: 'n', controller: true };
  const owners = [owner, node].filter(Boolean);
  const metadata = {
    name: `${owner?.name ?? 'web'}-1`,
    namespace,
    uid: 'u',
    annotations: { [networksAnnotation]: networks, ...annotations, ...mirror },
    ...(owners.length > 0 && { ownerReferences: owners }),
  };
  return planPod(toPod({ metadata, spec: { nodeName: mirrorOn }, status: { phase } }), clusterView, held, conflicts);
}

/** Returns the key of an annotation for provider macvlan.default. */
export const annotationKey = (suffix: string) => `macvlan.default.kubernetes.io/${suffix}`;
/** A request for any address of provider macvlan.default. */
export const defaultRequest = {
  provider: 'macvlan.default',
  ordinal: 0,
  interface: '',
  subnets: ['macvlan', 'macvlan-2'],
  candidates: [],
  pool: '',
  mac: '',
  routes: [],
  defaultRoute: undefined,
  ipFamily: '',
};
/** Makes a request for one of these address sets of provider macvlan.default. */
export const requestOfAddresses = (...addresses: string[][]) => ({
  ...defaultRequest,
  candidates: addresses.map((each) => ({ addresses: each })),
});
export const statefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'o', controller: true };
