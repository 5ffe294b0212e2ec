/** The objects of the Kubernetes API that `check` compares with the ledger. */
import { ownGroup } from '../../lib/kubernetes/beside-kube-ovn.ts';
import type { StatefulSetMembers } from '../../lib/kubernetes/stateful-set.ts';
import type { Owner } from '../../proto/generated/ipledger.ts';

export interface Pod {
  readonly namespace: string;
  readonly name: string;
  /** The name in the ledger, if it differs: a launcher has the name of its virtual machine. */
  readonly ledgerName?: string;
  /** The uid in the ledger. It differs from the Pod's for static Pods and virtual machines. */
  readonly identity: string;
  readonly hostNetwork: boolean;
  readonly restartPolicy: string;
  readonly phase: string;
  readonly reason: string;
  readonly isTerminating: boolean;
  readonly graceSeconds: number;
  readonly annotations: Readonly<Record<string, string>>;
  /** The node; "" while the Pod is not scheduled. */
  readonly node: string;
  readonly owner: Owner | undefined;
  /** Whether it is ready; absent for a Pod that is no node agent. */
  readonly agent?: 'ready' | 'not ready';
}

export interface IpObject {
  readonly name: string;
  /** The allocation's event number; "" on an object that ipledger did not create. */
  readonly allocation: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

/** A Subnet or an IPPool. */
export interface StatusObject {
  readonly name: string;
  readonly status: Readonly<Record<string, unknown>>;
}

export interface Vip {
  readonly name: string;
  readonly subnet: string;
  /** The addresses in its status. */
  readonly addresses: readonly string[];
}

export interface ClusterState {
  /** The namespace of the node agents; without agents in Pods, that of docs/install.md. */
  readonly namespace: string;
  /** Whether ipledger serves its own networks only, beside Kube-OVN. */
  readonly besideKubeOvn: boolean;
  readonly pods: readonly Pod[];
  readonly ips: readonly IpObject[];
  readonly subnets: readonly StatusObject[];
  readonly pools: readonly StatusObject[];
  readonly vips: readonly Vip[];
  /** The names of all Nodes. */
  readonly nodes: ReadonlySet<string>;
  /** "is NotReady since …" of each Node that is not ready. */
  readonly nodeFailures: ReadonlyMap<string, string>;
  /** The StatefulSets by "namespace/name". */
  readonly statefulSets: ReadonlyMap<string, StatefulSetMembers>;
  /** KubeVirt's VirtualMachines that are not terminating, by "namespace/name". */
  readonly machines: ReadonlySet<string>;
  /** The CNI configurations of the NetworkAttachmentDefinitions, by "namespace/name". */
  readonly networks: ReadonlyMap<string, string>;
}

/** A kind of ipledger for kubectl. Short names are those of Kube-OVN on its clusters. */
export const resourceOf = (plural: 'ips' | 'subnets', { besideKubeOvn }: Pick<ClusterState, 'besideKubeOvn'>): string =>
  `${plural}.${besideKubeOvn ? ownGroup : 'kubeovn.io'}`;
