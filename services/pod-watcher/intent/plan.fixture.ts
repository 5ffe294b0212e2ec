/** What the specs of plans look at: networks, Subnets, IPPools and Vips, and a Pod that wants something of them. */
import { networksAnnotation, toPod } from '../kubernetes/objects.ts';
import type { Held } from './matching.ts';
import type { SubnetBinding } from '../kubernetes/kept-objects.ts';
import { networkOf } from './network.ts';
import { planFor } from './plan.ts';
import type { Sight } from './sight.ts';

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
  'default/local': '{"type":"macvlan","ipam":{"type":"host-local"}}',
  'default/empty': '',
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
};
const bindings: Record<string, SubnetBinding> = {
  'macvlan-shop': { namespaces: ['shop'], selectors: [] },
  closed: { namespaces: ['shop', 'web'], selectors: [] },
  'ovn-shop': { namespaces: ['shop'], selectors: [{ matchLabels: { team: 'shop' }, matchExpressions: [] }] },
};
const sight: Sight = {
  network: (key) => {
    const [namespace = '', name = ''] = key.split('/');
    const config = configs[key];
    return config === undefined ? undefined : networkOf({ namespace, name, config });
  },
  subnets: {
    serves: (name) => Object.values(providers).some((names) => names.includes(name)),
    exists: (name) => name === 'coming' || Object.values(providers).some((names) => names.includes(name)),
    bindingOf: (name) => bindings[name],
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
  namespaceOf: (name) => {
    const namespace = namespaces[name];
    return namespace && { labels: {}, ...namespace };
  },
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
const namespaces: Record<
  string,
  { subnets: string[]; pools: string[]; labels?: Record<string, string>; problems?: string[] }
> = {
  labelled: { subnets: ['ovn-shop'], pools: [], labels: { team: 'shop' } },
  crowded: { subnets: [], pools: [], problems: ['annotation logical_switch has 257 names'] },
  listing: { subnets: ['ovn-shop', 'macvlan'], pools: [] },
  'listing-pool': { subnets: [], pools: ['pool-1', 'primary-pool-of-shop'] },
  shop: { subnets: ['ovn-shop'], pools: [] },
  default: { subnets: [], pools: [] },
  served: { subnets: ['nowhere', 'pod-network', 'namespace-network'], pools: [] },
  waiting: { subnets: ['nowhere', 'coming'], pools: [] },
  foreign: { subnets: ['nowhere'], pools: [] },
  drawing: { subnets: ['namespace-network', 'pod-network'], pools: [] },
};

interface Around {
  readonly phase?: string;
  readonly owner?: { readonly name: string };
  readonly namespace?: string;
  readonly held?: readonly Held[];
}

/** The plan for Pod `<owner>-1`, `web-1` without one. */
export function plan(
  networks: string,
  annotations: Record<string, string> = {},
  { owner, namespace = 'default', held, phase = 'Pending' }: Around = {},
) {
  const metadata = {
    name: `${owner?.name ?? 'web'}-1`,
    namespace,
    uid: 'u',
    annotations: { [networksAnnotation]: networks, ...annotations },
    ...(owner ? { ownerReferences: [owner] } : {}),
  };
  return planFor(toPod({ metadata, status: { phase } }), sight, held);
}

/** An annotation of provider macvlan.default. */
export const key = (suffix: string) => `macvlan.default.kubernetes.io/${suffix}`;
/** Any address of it. */
export const request = {
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
/** One of these addresses of it. */
export const asks = (...addresses: string[][]) => ({
  ...request,
  candidates: addresses.map((each) => ({ addresses: each })),
});
export const statefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'o', controller: true };
