/** Kubernetes objects, which tenants and operators write, and the annotations of Pods. */
import type { ResourceKind } from '../../../lib/kubernetes/client/informer.ts';
import { parseAcceptance, haltedMassDeletions } from '../../../lib/kubernetes/mass-deletion-acceptance.ts';
import { asRecord, asText } from '../../../lib/kubernetes/untyped-json.ts';
import { securedPods } from '../../../services/ovn-projector/kubernetes/secured-pod.ts';
import { providerNetworks, subnetSettings } from '../../../services/ovn-projector/kubernetes/subnet-settings.ts';
import { parseOptions } from '../../../services/ovn-projector/rows/dhcp-options.ts';
import { broadcastDomainOf } from '../../../services/pod-watcher/controllers/network-definitions/broadcast-domain.ts';
import { classifyNetwork } from '../../../services/pod-watcher/controllers/network-definitions/classify-network.ts';
import { planPod } from '../../../services/pod-watcher/controllers/pods/planning/plan.ts';
import { clusterView } from '../../../services/pod-watcher/controllers/pods/planning/testing/plan.fixture.ts';
import { parseHandoverState } from '../../../services/pod-watcher/handover-state.ts';
import { ipPools } from '../../../services/pod-watcher/kubernetes/objects/ip-pool.ts';
import { ipRecords, ips } from '../../../services/pod-watcher/kubernetes/objects/ip.ts';
import { ipamClaims } from '../../../services/pod-watcher/kubernetes/objects/ipam-claim.ts';
import { namespaces } from '../../../services/pod-watcher/kubernetes/objects/namespace.ts';
import { networkDefinitions } from '../../../services/pod-watcher/kubernetes/objects/network-definition.ts';
import { nodes } from '../../../services/pod-watcher/kubernetes/objects/node.ts';
import { ovn4nfvNetworks } from '../../../services/pod-watcher/kubernetes/objects/ovn4nfv-network.ts';
import { podRecords } from '../../../services/pod-watcher/kubernetes/objects/pod-record.ts';
import { networksAnnotation, pods } from '../../../services/pod-watcher/kubernetes/objects/pod.ts';
import { networkSelector, shownProviders } from '../../../services/pod-watcher/kubernetes/objects/shown-allocations.ts';
import { statefulSets } from '../../../services/pod-watcher/kubernetes/objects/stateful-set.ts';
import { subnets } from '../../../services/pod-watcher/kubernetes/objects/subnet.ts';
import { vips } from '../../../services/pod-watcher/kubernetes/objects/vip.ts';
import { virtualMachines } from '../../../services/pod-watcher/kubernetes/objects/virtual-machine.ts';
import { vlans } from '../../../services/pod-watcher/kubernetes/objects/vlan.ts';
import { assertClear, type FuzzTarget } from '../fuzz-target.ts';

/** The longest object: etcd's limit for a request. */
const maxBytes = 256 << 10;
const metadata = {
  name: 'web-0',
  namespace: 'default',
  uid: 'u-1',
  resourceVersion: '7',
  generation: 2,
  labels: { app: 'web' },
  annotations: {},
  finalizers: ['ipledger.io/ledger'],
  creationTimestamp: '2026-11-26T08:00:00Z',
};

const pod = (annotations: Record<string, string>, more: object = {}): object => ({
  metadata: {
    ...metadata,
    annotations,
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'o', controller: true }],
    ...more,
  },
  spec: { nodeName: 'node-1', hostNetwork: false, restartPolicy: 'Always', terminationGracePeriodSeconds: 30 },
  status: { phase: 'Pending', reason: '' },
});

const key = (suffix: string, provider = 'macvlan.default'): string => `${provider}.kubernetes.io/${suffix}`;
const podSeeds: readonly object[] = [
  pod({ [networksAnnotation]: 'macvlan,vlan@net7,default/attachnet', [key('ip_address')]: '10.0.0.7' }),
  pod({
    [networksAnnotation]:
      '[{"name":"macvlan","namespace":"default","interface":"net1","ips":["10.0.0.7/24"],"mac":"02:00:00:00:00:01","default-route":["10.0.0.1"]},{"name":"vlan","ipam-claim-reference":"vm1"}]',
    [key('ip_pool')]: '10.0.0.7,10.0.0.8;10.0.0.9,fd00::9',
    [key('routes')]: '[{"dst":"10.1.0.0/16","gw":"10.0.0.1"}]',
    [key('cidr')]: '10.0.0.0/8,fd00::/64',
    [key('mac_address')]: '02:00:00:00:00:01',
    [key('logical_switch')]: 'macvlan',
    [key('default_route')]: 'true',
  }),
  pod({ [networksAnnotation]: 'macvlan', [key('ip_pool')]: 'pool-1', 'ovn.kubernetes.io/vip': 'web' }),
  pod({ 'v1.multus-cni.io/default-network': 'default/attachnet', [key('allocated', 'attachnet.default.ovn')]: 'true' }),
  pod({
    'k8s.plugin.opnfv.org/nfn-network':
      '{"type":"ovn4nfv","interface":[{"name":"ovn-ls-25","interface":"net1","ipAddress":"10.0.0.9","defaultGateway":"false"}]}',
    ovnNetwork: '[{"name":"ovn-ls-26","interface":"net2","mac":"02:00:00:00:00:02"}]',
    ovnNetworkRoutes: '[{"dst":"10.9.0.0/16","gw":"10.0.0.1","dev":"net1"}]',
  }),
  pod(
    { [networksAnnotation]: 'macvlan', 'kubernetes.io/config.hash': 'd41d8cd98f00b204e9800998ecf8427e' },
    { deletionTimestamp: '2026-11-26T09:00:00Z', deletionGracePeriodSeconds: 30 },
  ),
];

/** Plans a Pod that arrives, as the pod-watcher does. */
function planObject(raw: unknown): unknown {
  const parsed = pods.parse(raw);
  const restored = podRecords.restore(podRecords.store(parsed), parsed.name);
  const plan = planPod(restored, clusterView);
  shownProviders(restored).filter(networkSelector(restored));
  for (const text of [...plan.problems.map((each) => each.text), ...plan.warnings]) assertClear(text);
  return { parsed, plan };
}

const config = (value: object): object => ({ metadata, spec: { config: JSON.stringify(value) } });
const networkSeeds: readonly object[] = [
  config({ cniVersion: '1.0.0', type: 'macvlan', master: 'eth1.100', ipam: { type: 'kube-ovn', provider: 'a.b' } }),
  config({
    name: 'x',
    plugins: [
      { type: 'bridge', bridge: 'br1', vlan: 7, capabilities: { mac: true }, ipam: { type: 'kube-ovn' } },
      { type: 'kube-ovn' },
    ],
  }),
  config({ type: 'kube-ovn', server_socket: '/run/x.sock', provider: 'web-0.default.ovn' }),
  config({ type: 'sriov', vlan: 5, linkInContainer: false, ipam: { type: 'host-local' } }),
];

function classifyObject(raw: unknown): unknown {
  const definition = networkDefinitions.parse(raw);
  const network = classifyNetwork(definition);
  if (network.kind === 'broken') assertClear(network.problem);
  return { definition, network, domain: broadcastDomainOf(definition.config, definition.resource) };
}

const selector = { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] };
const condition = {
  type: 'Ready',
  status: 'True',
  reason: 'x',
  message: 'y',
  lastTransitionTime: '2026-11-26T08:00:00Z',
};
const kinds: readonly (readonly [name: string, kind: ResourceKind<object>, spec: object, status: object])[] = [
  [
    'subnet',
    subnets,
    {
      cidrBlock: '10.0.0.0/16,fd00::/112',
      gateway: '10.0.0.1,fd00::1',
      excludeIps: ['10.0.0.0..10.0.0.10', 'fd00::5'],
      provider: 'macvlan.default',
      protocol: 'Dual',
      cooldownSeconds: 60,
      bindingTimeoutSeconds: 60,
      maxAddressesPerNamespace: 9,
      probeAddresses: true,
      namespaces: ['default'],
      namespaceSelectors: [selector],
      allowSubnets: ['10.1.0.0/16'],
      private: true,
      vips: ['10.0.0.9'],
      mtu: 1400,
    },
    { conditions: [condition], v4availableIPs: 3 },
  ],
  ['ip-pool', ipPools, { subnet: 'macvlan', ips: ['10.0.0.7', '10.0.0.8..10.0.0.9'], namespaces: ['default'] }, {}],
  ['vip', vips, { subnet: 'macvlan', v4ip: '10.0.0.7', v6ip: 'fd00::7', macAddress: '', namespace: 'default' }, {}],
  ['vlan', vlans, { id: 7, provider: 'net1' }, {}],
  [
    'ipam-claim',
    ipamClaims,
    { network: 'macvlan', interface: 'net1', ipRequests: ['10.0.0.7/24'] },
    { ips: ['10.0.0.7/24'], ownerPod: { name: 'p' } },
  ],
  [
    'ovn4nfv-network',
    ovn4nfvNetworks,
    {
      cniType: 'ovn4nfv',
      ipv4Subnets: [{ name: 's', subnet: '10.0.0.0/24', gateway: '10.0.0.1/24', excludeIps: '10.0.0.2..10.0.0.5' }],
    },
    {},
  ],
  [
    'node',
    nodes,
    { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
    { conditions: [condition] },
  ],
  ['namespace', namespaces, {}, { phase: 'Active' }],
  ['stateful-set', statefulSets, { replicas: 3, ordinals: { start: 1 } }, { replicas: 3 }],
  [
    'virtual-machine',
    virtualMachines,
    { runStrategy: 'Always' },
    { activePods: { 'u-1': 'node-1' }, phase: 'Running' },
  ],
  [
    'subnet-settings',
    subnetSettings,
    { vlan: 'v', vpc: 'r', logicalGateway: true, enableDHCP: true, dhcpV4Options: 'a=b', acls: [], mtu: 1400 },
    {},
  ],
  ['provider-networks', providerNetworks, { defaultInterface: 'eth1' }, {}],
  ['secured-pod', securedPods, {}, {}],
];

const ip = {
  metadata: {
    ...metadata,
    namespace: '',
    finalizers: [],
    annotations: { 'ipledger.io/allocation': '7' },
    labels: { 'ovn.kubernetes.io/subnet': 'macvlan' },
  },
  spec: {
    podName: 'web-0',
    namespace: 'default',
    subnet: 'macvlan',
    attachSubnets: [],
    nodeName: 'node-1',
    ipAddress: '10.0.0.7,fd00::7',
    v4IpAddress: '10.0.0.7',
    v6IpAddress: 'fd00::7',
    attachIps: [],
    macAddress: '02:00:00:00:00:01',
    attachMacs: [],
    containerID: '',
    podType: 'StatefulSet',
  },
};

const handover = {
  pods: '7',
  nodes: '8',
  vanishedPods: 3,
  vanishedNodes: 1,
  haltedNamespaces: { default: 4 },
  usedAcceptance: 'x',
  terminating: { 'u-1': [30, 5_000] },
  outOfService: { 'node-1': 7 },
  ledger: { epoch: 1, seq: 7, hash: 'ab' },
};
const acceptance = { id: 'a', pods: { '*': 3, default: 2 }, nodes: 1, reason: 'maintenance' };

const json = (value: unknown): string => JSON.stringify(value);

/** Creates a target for an object that the API server sends as JSON. */
const objectTarget = (name: string, seeds: readonly object[], decode: (raw: unknown) => unknown): FuzzTarget => ({
  name: `kubernetes/${name}`,
  format: 'json',
  maxBytes,
  seeds: () => seeds.map(json),
  decode: (input) => decodeObject(JSON.parse(input.toString()), decode),
  rejections: [SyntaxError, Nameless],
});

class Nameless extends Error {}

/** Decodes an object. A thrown error would stop the informer of its kind. */
function decodeObject(raw: unknown, decode: (raw: unknown) => unknown): unknown {
  const { name, uid } = asRecord(asRecord(raw)['metadata']);
  if (asText(name) !== '' && asText(uid) !== '') return decode(raw);
  try {
    return decode(raw);
  } catch (error) {
    throw new Nameless((error as Error).message, { cause: error });
  }
}

export const kubernetesTargets: readonly FuzzTarget[] = [
  objectTarget('pod', podSeeds, planObject),
  objectTarget('network-definition', networkSeeds, classifyObject),
  objectTarget('ip', [ip], (raw) => {
    const parsed = ips.parse(raw);
    return ipRecords.restore(ipRecords.store(parsed), parsed.name);
  }),
  ...kinds.map(([name, kind, spec, status]) =>
    objectTarget(
      name,
      [
        {
          metadata: {
            ...metadata,
            annotations: { 'ovn.kubernetes.io/logical_switch': 'a,b', [key('port_security')]: 'true' },
          },
          spec,
          status,
        },
      ],
      (raw) => kind.parse(raw),
    ),
  ),
  {
    name: 'kubernetes/handover-state',
    format: 'json',
    maxBytes,
    seeds: () => [json(handover)],
    decode: (input) => [
      parseHandoverState(input.toString()),
      haltedMassDeletions(asRecord({ metadata: { annotations: { 'ipledger.io/memory': input.toString() } } })),
    ],
  },
  {
    name: 'kubernetes/acceptance',
    format: 'json',
    maxBytes,
    seeds: () => [json(acceptance)],
    decode: (input) => parseAcceptance(input.toString()),
  },
  {
    name: 'kubernetes/dhcp-options',
    format: 'text',
    maxBytes: 4 << 10,
    seeds: () => ['lease_time=3600,router=10.0.0.1,dns_server={10.0.0.2,10.0.0.3}'],
    decode: (input) => parseOptions(input.toString()),
  },
];
