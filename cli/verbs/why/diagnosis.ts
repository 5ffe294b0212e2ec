/** Explains what a Pod waits for, from the ledger and the cluster. */
import type { AllocationPeriod } from '../../allocation-periods/allocation-periods.ts';
import { describeObstacle, describeContainer, endOfBinding, lostNodeRemedy } from '../../output/format.ts';
import { formatPodName, shortContainerId } from '../../../lib/ledger-text/texts.ts';
import type { Allocation, WriteObstacle } from '../../../proto/generated/ipledger.ts';
import { virtualMachineKind } from '../../../lib/kubernetes/pod-identity.ts';
import { isFromWatcher, type KubernetesEvent, type PodInCluster } from './pod-in-cluster.ts';
import type { PodHistory } from './pod-history.ts';

/** The Pod of a name, from both sides. */
export interface DiagnosisInput {
  /** The latest Pod with that name in the ledger. */
  readonly history: PodHistory | undefined;
  /** The Pod in the cluster; null if it is not there; undefined if the cluster was not read. */
  readonly pod: PodInCluster | null | undefined;
  /** The current allocations of the name, with all containers that may answer on them. */
  readonly allocations?: readonly Allocation[];
  /** Why releases are halted in its namespace, and the remedy; undefined if they are not. */
  readonly halt?: string | undefined;
  /** Why nothing can be written to the ledger. */
  readonly obstacle?: WriteObstacle | undefined;
}

/** Returns sentences, the most important one first. */
export function diagnosePod({ obstacle, ...input }: DiagnosisInput): string[] {
  const blocked = obstacle ? [`nothing can be written to the ledger ${describeObstacle(obstacle, String)}`] : [];
  return [...blocked, ...diagnose(input)];
}

function diagnose({ history, pod, allocations = [], halt }: DiagnosisInput): string[] {
  if (pod && pod.uid !== history?.uid)
    return [...diagnoseUnknownPod(pod), ...(history ? ['the history below is of earlier Pods with this name'] : [])];
  if (!history) return ['no Pod with this name is in the ledger or in the cluster'];
  const current = history.allocationPeriods.filter(({ until }) => until === '');
  if (pod === null) return diagnoseDeletedPod(history, current, halt);
  return [
    ...diagnoseLostNode(pod),
    ...diagnoseRefusals(history, pod),
    ...current.flatMap((period) => {
      const bindings = allocations.find(({ seq }) => seq === period.grant.seq)?.bindings ?? [];
      return diagnoseAllocation(period, { node: nodeOf(current, pod), pod, bindings });
    }),
    ...(history.refusals.length === 0 && current.length === 0 ? diagnoseWithoutAddress(history, pod) : []),
  ];
}

/** Explains the refusals. The ledger records each reason once: a newer Event is more current. */
function diagnoseRefusals({ refusals }: PodHistory, pod: PodInCluster | undefined): string[] {
  const newestAt = Math.max(...refusals.map(({ at }) => Date.parse(at)));
  const current = pod?.events.find(isWaitReason);
  // The time of an Event is in seconds
  if (refusals.length === 0 || !current || Date.parse(current.at) + 1_000 <= newestAt)
    return refusals
      .toSorted((a, b) => b.seq - a.seq)
      .map(({ attachment, message }) => `it waits for an address of ${attachment?.provider ?? ''}: ${message}`);
  const refused = [...new Set(refusals.map(({ attachment }) => attachment?.provider ?? ''))].join(',');
  const providers = / provider=(\S+)/.exec(stageOf(current))?.[1] ?? refused;
  return [`it waits for an address of ${providers.replaceAll(',', ' and ')}: ${withoutStage(current)}`];
}

/** Explains a Pod without an address. The ledger lacks a request that was not sent. */
function diagnoseWithoutAddress(history: PodHistory, pod: PodInCluster | undefined): string[] {
  const reported = pod?.deletedAt === '' ? pod.events.find(isWaitReason) : undefined;
  if (!reported) return diagnoseDeletedPod(history, []);
  return [`it has no address. The pod-watcher reported at ${reported.at}: ${withoutStage(reported)}`];
}

/** Whether an Event explains a wait. Others, about annotations and MACs, prevent no allocation. */
const isWaitReason = (event: KubernetesEvent): boolean => isFromWatcher(event) && stageOf(event) !== '';

/** The first part of "stage=… provider=… error=…". */
export const stageOf = ({ message }: KubernetesEvent): string => /^stage=.*? error=/.exec(message)?.[0] ?? '';

const withoutStage = (event: KubernetesEvent): string => event.message.slice(stageOf(event).length);

/** Explains a Pod without events: only the pod-watcher's Events show why it sent no request. */
function diagnoseUnknownPod({ networks, uid, deletedAt, events }: PodInCluster): string[] {
  if (deletedAt !== '') return ['it is being deleted, and never had an address'];
  const watcherEvent = events.find(isWaitReason) ?? events.find(isFromWatcher);
  if (watcherEvent) return [`the pod-watcher requested no address for it: ${withoutStage(watcherEvent)}`];
  if (networks === '')
    return [
      `the allocator got no request for it (uid ${uid}): it has no annotation k8s.v1.cni.cncf.io/networks, so it needs no attachment`,
    ];
  return [
    `the allocator got no request for it yet (uid ${uid}): check that pod-watcher is ready, and that ipam.type of ${networks} is kube-ovn`,
  ];
}

/** The node of the Pod, by any attachment; undefined if neither side names a node. */
const nodeOf = (current: readonly AllocationPeriod[], pod: PodInCluster | undefined): string | undefined =>
  pod?.node ?? current.findLast(({ node }) => node !== '')?.node;

interface Circumstances {
  readonly node: string | undefined;
  readonly pod: PodInCluster | undefined;
  /** All containers that may answer on the addresses, also those of earlier Pods. */
  readonly bindings: Allocation['bindings'];
}

function diagnoseAllocation(period: AllocationPeriod, { node, pod, bindings }: Circumstances): string[] {
  const { addresses, subnet, attachment } = period;
  const has = `it has ${addresses.join(' and ')} of subnet ${subnet}`;
  // An open binding of an earlier Pod is also in the period of its successor
  const open = period.bindings.filter(({ until }) => until === '');
  const isOwn = (each: { readonly node: string }): boolean =>
    !node || each.node === node || period.owner?.kind === virtualMachineKind;
  const binding = open.findLast(isOwn);
  if (binding)
    return [`${has}, and container ${shortContainerId(binding.containerId)} on node ${binding.node} uses it`];
  if (node === '') return [`${has}, and waits to be scheduled to a node`];
  const elsewhere = open.map((each) => ({ ...each, at: each.from })).at(-1) ?? bindings.find((each) => !isOwn(each));
  // A member of a StatefulSet that was deleted by force gets the address while the earlier
  // container may still run.
  if (elsewhere && node !== undefined)
    return [
      `${has}, and cannot start on node ${node}: an earlier Pod of this name may still answer on it (${describeContainer(elsewhere)}); ${endOfBinding(elsewhere.node)}`,
    ];
  if (node === undefined) return [`${has}, and no container uses it yet`];
  if (pod?.nodeFailure !== undefined && pod.deletedAt === '')
    return [`${has}, and its node ${node} ${pod.nodeFailure}, so no kubelet starts it. ${lostNodeRemedy(node)}`];
  return [
    `${has}, and no CNI ADD of ${attachment?.provider ?? ''} has succeeded on node ${node}. An Event FailedCreatePodSandBox shows the cause; without one, check that kubelet, Multus and node-agent run there`,
  ];
}

/** Explains a Pod that waits for a lost kubelet, and whose successor is not created before. */
const diagnoseLostNode = (pod: PodInCluster | undefined): string[] =>
  pod && pod.deletedAt !== '' && pod.nodeFailure !== undefined
    ? [
        `it is being deleted since ${pod.deletedAt}, and its node ${pod.node} ${pod.nodeFailure}, so no kubelet ends it and no next Pod of the name starts. ${lostNodeRemedy(pod.node)}`,
      ]
    : [];

function diagnoseDeletedPod(history: PodHistory, current: readonly AllocationPeriod[], halt?: string): string[] {
  if (current.length > 0) {
    const addresses = current.map((period) => period.addresses.join(' and ')).join(', ');
    return [
      halt === undefined
        ? `the Pod is deleted, and ${addresses} will be released: if that does not happen, check that pod-watcher is ready`
        : `the Pod is not in the cluster, and keeps ${addresses}: ${halt}`,
    ];
  }
  const lingering = history.allocationPeriods
    .flatMap(({ bindings }) => bindings.filter(({ until }) => until === ''))
    .map(
      ({ containerId, node, from: at }) =>
        `its address is held: the ledger has no CNI DEL of ${describeContainer({ containerId, node, at })}; ${endOfBinding(node)}`,
    );
  const last = history.allocationPeriods.at(-1);
  if (!last) return ['it never had an address, and requests none'];
  if (last.release?.toUid) return ['its successor has its addresses', ...lingering];
  return [`${last.attachment ? formatPodName(last.attachment) : 'it'} has no address any more`, ...lingering];
}
