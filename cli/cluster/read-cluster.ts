/** Reads the cluster state from the Kubernetes API. */
import { conditionOf, isReady } from '../../lib/kubernetes/object-meta.ts';
import { withoutKubeOvnAnnotations } from '../../lib/kubernetes/beside-kube-ovn.ts';
import { allocationAnnotation, ownerKind } from '../../lib/kubernetes/kubernetes-metadata.ts';
import {
  type Controller,
  controllerOf,
  podIdentityOf,
  assertedMachineOf,
  type MachineInstance,
  machineInstanceOf,
  launcherMismatch,
  virtualMachineKind,
} from '../../lib/kubernetes/pod-identity.ts';
import { graceSecondsOf } from '../../lib/kubernetes/pod-lifecycle.ts';
import { membersOf } from '../../lib/kubernetes/stateful-set.ts';
import type { Owner } from '../../proto/generated/ipledger.ts';
import { chartNamespace } from '../clients/ledger-client.ts';
import type { KubernetesClient } from '../clients/kubernetes-client.ts';
import type { ClusterState, IpObject, Pod, StatusObject, Vip } from './cluster-state.ts';
import { type UntypedJson, asRecord, asText } from '../../lib/kubernetes/untyped-json.ts';

const kubeOvn = '/apis/kubeovn.io/v1';
/** The API path of each kind. */
export const collectionPaths = {
  Subnet: `${kubeOvn}/subnets`,
  IPPool: `${kubeOvn}/ippools`,
  IP: `${kubeOvn}/ips`,
  Vip: `${kubeOvn}/vips`,
  Pod: '/api/v1/pods',
  Node: '/api/v1/nodes',
  StatefulSet: '/apis/apps/v1/statefulsets',
  Network: '/apis/k8s.cni.cncf.io/v1/network-attachment-definitions',
} as const;
/** KubeVirt's API, which most clusters lack. */
const machinesApi = '/apis/kubevirt.io/v1';

/** All objects that have or request an address. @throws CliError when the API cannot be read. */
export async function readCluster(kubernetes: KubernetesReader): Promise<ClusterState> {
  const read = async <T>(kind: keyof typeof collectionPaths, as: (item: UntypedJson) => T): Promise<T[]> =>
    (await kubernetes.list(collectionPaths[kind])).map(as);
  const [podsAndNetworks, ips, subnets, pools, vips, nodes] = await Promise.all([
    readPodsAndNetworks(kubernetes),
    read('IP', parseIp),
    read('Subnet', parseStatus),
    read('IPPool', parseStatus),
    read('Vip', parseVip),
    read('Node', (item) => [nameOf(item), nodeFailureOf(item)] as const),
  ]);
  const nodeFailures = new Map(nodes.flatMap(([name, failure]) => (failure === undefined ? [] : [[name, failure]])));
  return {
    ...podsAndNetworks,
    ips,
    subnets,
    pools,
    vips,
    nodes: new Set(nodes.map(([name]) => name)),
    nodeFailures,
    namespace: podsAndNetworks.pods.find(({ agent }) => agent !== undefined)?.namespace ?? chartNamespace,
  };
}

export type KubernetesReader = Pick<KubernetesClient, 'get' | 'list' | 'besideKubeOvn'>;

/** The Pods, and the objects that decide their attachments and address retention. */
export type PodsAndNetworks = Pick<ClusterState, 'pods' | 'statefulSets' | 'machines' | 'networks' | 'besideKubeOvn'>;

/** @throws CliError when the API cannot be read. */
export async function readPodsAndNetworks(kubernetes: KubernetesReader): Promise<PodsAndNetworks> {
  const { besideKubeOvn } = kubernetes;
  const [pods, statefulSets, networks, { machines, instances }] = await Promise.all([
    kubernetes.list(collectionPaths.Pod),
    kubernetes.list(collectionPaths.StatefulSet),
    kubernetes.list(collectionPaths.Network),
    readMachines(kubernetes),
  ]);
  return {
    besideKubeOvn,
    pods: pods.map((item) => parsePod(besideKubeOvn ? withoutKubeOvnAnnotations(item) : item, instances)),
    statefulSets: new Map(statefulSets.map((item) => [keyOf(item), membersOf(item)])),
    networks: new Map(networks.map((item) => [keyOf(item), asText(asRecord(item['spec'])['config'])])),
    machines,
  };
}

/** A launcher Pod gets the identity of its virtual machine, if the instance lists the Pod. */
function parsePod(item: UntypedJson, instances: ReadonlyMap<string, MachineInstance>): Pod {
  const [metadata, spec, status] = [asRecord(item['metadata']), asRecord(item['spec']), asRecord(item['status'])];
  const all = Object.entries(asRecord(metadata['annotations'])).map(([key, value]) => [key, asText(value)] as const);
  const annotations = Object.fromEntries(all);
  const [name, uid] = [asText(metadata['name']), asText(metadata['uid'])];
  const controller = controllerOf(metadata['ownerReferences']);
  const asserted = assertedMachineOf({ name, controller });
  const instance = asserted && instances.get(`${asText(metadata['namespace'])}/${asserted.name}`);
  const isLauncher = asserted && !launcherMismatch(instance, asserted, { name, uid });
  const identity = isLauncher ? asserted : podIdentityOf({ name, uid, annotations });
  return {
    namespace: asText(metadata['namespace']),
    name,
    ...(identity.name !== name && { ledgerName: identity.name }),
    identity: identity.uid,
    hostNetwork: spec['hostNetwork'] === true,
    restartPolicy: asText(spec['restartPolicy']),
    phase: asText(status['phase']),
    reason: asText(status['reason']),
    isTerminating: isTerminating(item),
    graceSeconds: graceSecondsOf(metadata, spec),
    annotations,
    node: asText(spec['nodeName']),
    owner: ownerOf(controller, identity.name !== name),
    ...(isAgent(item) && { agent: isReady(item) ? 'ready' : 'not ready' }),
  };
}

/** A VirtualMachineInstance counts as owner of its launcher Pods only. */
function ownerOf(controller: Controller | undefined, isLauncher: boolean): Owner | undefined {
  if (!controller) return undefined;
  const { apiVersion, name, uid } = controller;
  const kind = ownerKind(apiVersion, controller.kind);
  return kind === virtualMachineKind && !isLauncher ? undefined : { kind, name, uid };
}

/** Recognizes node agents by label and host network, so that no tenant's Pod counts as an agent. */
function isAgent({ metadata, spec }: UntypedJson): boolean {
  const labels = asRecord(asRecord(metadata)['labels']);
  return (
    labels['app.kubernetes.io/name'] === 'ipledger' &&
    labels['app.kubernetes.io/component'] === 'node-agent' &&
    asRecord(spec)['hostNetwork'] === true
  );
}

/** Returns "is NotReady since …"; undefined for a ready Node, or one without the condition. */
export function nodeFailureOf({ status }: UntypedJson): string | undefined {
  const ready = conditionOf(asRecord(status), 'Ready');
  const isKnown = asText(ready['status']) !== '' && ready['status'] !== 'True';
  return isKnown ? `is NotReady since ${asText(ready['lastTransitionTime'])}` : undefined;
}

function parseIp(item: UntypedJson): IpObject {
  const metadata = asRecord(item['metadata']);
  const allocation = asText(asRecord(metadata['annotations'])[allocationAnnotation]);
  return { name: asText(metadata['name']), allocation, spec: asRecord(item['spec']) };
}

const nameOf = (item: UntypedJson): string => asText(asRecord(item['metadata'])['name']);

const parseStatus = (item: UntypedJson): StatusObject => ({ name: nameOf(item), status: asRecord(item['status']) });

function parseVip(item: UntypedJson): Vip {
  const { v4ip, v6ip } = asRecord(item['status']);
  const addresses = [asText(v4ip), asText(v6ip)].filter((address) => address !== '');
  return { name: nameOf(item), subnet: asText(asRecord(item['spec'])['subnet']), addresses };
}

/** VirtualMachines that are not terminating, and VirtualMachineInstances, by "namespace/name". */
async function readMachines({ get, list }: KubernetesReader) {
  if (!(await get(machinesApi))) return { machines: new Set<string>(), instances: new Map<string, MachineInstance>() };
  const machines = (await list(`${machinesApi}/virtualmachines`)).filter((item) => !isTerminating(item));
  const running = await list(`${machinesApi}/virtualmachineinstances`);
  return {
    machines: new Set(machines.map(keyOf)),
    instances: new Map(running.map((item) => [keyOf(item), machineInstanceOf(item)])),
  };
}

const isTerminating = (item: UntypedJson): boolean => asText(asRecord(item['metadata'])['deletionTimestamp']) !== '';

/** Returns "namespace/name" of an object. */
function keyOf(item: UntypedJson): string {
  const { namespace, name } = asRecord(item['metadata']);
  return `${asText(namespace)}/${asText(name)}`;
}
