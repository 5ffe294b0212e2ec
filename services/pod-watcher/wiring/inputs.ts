/** The inputs of the active watcher: its options, and the informers of all watched kinds. */
import type { Api } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { Tracer } from '../../../lib/tracing/tracer.ts';
import type { BucketLimit } from '../../../lib/process/token-bucket.ts';
import type { HandoverState } from '../handover-state.ts';
import { Informer } from '../../../lib/kubernetes/client/informer.ts';
import { CompactObjects } from '../kubernetes/compact-objects.ts';
import type { LauncherVerifier } from '../kubernetes/launcher-verifier.ts';
import { ipPools } from '../kubernetes/objects/ip-pool.ts';
import { ipamClaims } from '../kubernetes/objects/ipam-claim.ts';
import { ipRecords, ips } from '../kubernetes/objects/ip.ts';
import { nodes } from '../kubernetes/objects/node.ts';
import { ovn4nfvNetworks } from '../kubernetes/objects/ovn4nfv-network.ts';
import { podRecords } from '../kubernetes/objects/pod-record.ts';
import { statefulSets } from '../kubernetes/objects/stateful-set.ts';
import { subnets } from '../kubernetes/objects/subnet.ts';
import { virtualMachineInstances, virtualMachines } from '../kubernetes/objects/virtual-machine.ts';
import { vips } from '../kubernetes/objects/vip.ts';
import { vlans } from '../kubernetes/objects/vlan.ts';
import type { LedgerClient } from '../../../lib/ledger-client/ledger-client.ts';
import { withoutKubeOvnAnnotations } from '../../../lib/kubernetes/beside-kube-ovn.ts';
import { namespaces } from '../kubernetes/objects/namespace.ts';
import { networkDefinitions } from '../kubernetes/objects/network-definition.ts';
import { pods } from '../kubernetes/objects/pod.ts';

export interface WiringOptions {
  /** The API; beside Kube-OVN the API with ipledger's own objects. */
  readonly api: Api;
  /** The API with Kube-OVN's objects, beside Kube-OVN; absent: ipledger serves those objects. */
  readonly kubeOvnApi?: Api | undefined;
  readonly allocator: LedgerClient;
  /** The interval of the garbage collector; 0 disables it. */
  readonly garbageIntervalMs: number;
  /** The number of addresses that the Pods of a namespace may request; absent: the default. */
  readonly namespaceLimit?: BucketLimit;
  /** The Lease that this watcher holds. Alarms become Events of this Lease. */
  readonly lease: { readonly namespace: string; readonly name: string };
  /** The state that the previous active watcher left. */
  readonly handoverState: HandoverState;
  readonly tracer?: Tracer | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export type Informers = ReturnType<typeof createInformers>;

/** The informers, with Pods that have the identity of their virtual machine once it is verified. */
export type VerifiedInformers = Omit<Informers, 'pods'> & { readonly pods: LauncherVerifier };

/** Creates the informers, and starts none. */
export function createInformers({ api, kubeOvnApi, log }: Pick<WiringOptions, 'api' | 'kubeOvnApi' | 'log'>) {
  const { pods, networkDefinitions, namespaces } = kubeOvnApi ? kindsBesideKubeOvn : kindsInPlaceOfKubeOvn;
  return {
    ...(kubeOvnApi && { kubeOvnSubnets: new Informer(kubeOvnApi, subnets, log) }),
    pods: new Informer(api, { ...pods, createStore: () => new CompactObjects(podRecords) }, log),
    networks: new Informer(api, networkDefinitions, log),
    subnets: new Informer(api, subnets, log),
    statefulSets: new Informer(api, statefulSets, log),
    machines: new Informer(api, virtualMachines, log),
    machineInstances: new Informer(api, virtualMachineInstances, log),
    namespaces: new Informer(api, namespaces, log),
    ips: new Informer(api, { ...ips, createStore: () => new CompactObjects(ipRecords) }, log),
    pools: new Informer(api, ipPools, log),
    vips: new Informer(api, vips, log),
    vlans: new Informer(api, vlans, log),
    ipamClaims: new Informer(api, ipamClaims, log),
    ovn4nfvNetworks: new Informer(api, ovn4nfvNetworks, log),
    nodes: new Informer(api, nodes, log),
  };
}

/** The kinds that Kube-OVN also uses. Beside Kube-OVN, its own objects are ignored. */
const kindsInPlaceOfKubeOvn = { pods, namespaces, networkDefinitions };

const kindsBesideKubeOvn: typeof kindsInPlaceOfKubeOvn = {
  pods: { ...pods, parse: (raw) => pods.parse(withoutKubeOvnAnnotations(raw)) },
  namespaces: { ...namespaces, parse: (raw) => namespaces.parse(withoutKubeOvnAnnotations(raw)) },
  networkDefinitions: {
    ...networkDefinitions,
    parse: (raw) => ({ ...networkDefinitions.parse(raw), besideKubeOvn: true }),
  },
};
