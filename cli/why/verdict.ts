/** What a Pod waits for now, as far as ledger and cluster tell. */
import { podOf } from '../event.ts';
import type { Tenure } from '../tenure.ts';
import type { PodInCluster } from './cluster.ts';
import type { Life } from './story.ts';

/** What is known of the Pod of a name. */
export interface Known {
  /** The latest Pod of that name that the ledger knows. */
  readonly life: Life | undefined;
  /** null: there is none in the cluster; undefined: the cluster was not asked. */
  readonly pod: PodInCluster | null | undefined;
}

/** Sentences; the first says the most. */
export function verdict({ life, pod }: Known): string[] {
  if (pod && pod.uid !== life?.uid)
    return [...ofStranger(pod), ...(life ? ['what follows is of earlier Pods of its name'] : [])];
  if (!life) return ['neither the ledger nor the cluster knows a Pod of that name'];
  const holding = life.tenures.filter(({ until }) => until === '');
  if (pod === null) return ofGone(life, holding);
  return [
    ...life.refusals.map(
      ({ attachment, message }) => `it waits for an address for ${attachment?.provider ?? ''}: ${message}`,
    ),
    ...holding.flatMap((tenure) => ofHolding(tenure, nodeOf(holding, pod))),
    ...(life.refusals.length === 0 && holding.length === 0 ? ofGone(life, holding) : []),
  ];
}

/** A Pod of which the ledger has not heard: why it was not asked, only the pod-watcher knows. */
function ofStranger({ networks, uid, deletedAt, events }: PodInCluster): string[] {
  if (deletedAt !== '') return ['it is being deleted, and never was given an address'];
  const told = events.findLast(({ from }) => from === 'ipledger-pod-watcher');
  if (told) return [`the ledger was not asked for it: ${told.message.replace(/^stage=.*? error=/, '')}`];
  if (networks === '')
    return [
      `nobody asked the ledger for it (uid ${uid}): it has no annotation k8s.v1.cni.cncf.io/networks, and so wants no attachment`,
    ];
  return [
    `nobody has asked the ledger for it yet (uid ${uid}): is pod-watcher running and ready, and is ipam.type of ${networks} kube-ovn?`,
  ];
}

/** Where the Pod runs; undefined: nobody said. One attachment of it may tell more than another. */
const nodeOf = (holding: readonly Tenure[], pod: PodInCluster | undefined): string | undefined =>
  pod?.node ?? holding.findLast(({ node }) => node !== '')?.node;

function ofHolding({ addresses, subnet, uses, attachment }: Tenure, where: string | undefined): string[] {
  const what = `${addresses.join(' and ')} of subnet ${subnet}`;
  const used = uses.findLast(({ until }) => until === '');
  if (used)
    return [`it has ${what}, and container ${used.containerId.slice(0, 12)} on node ${used.node} is set up with it`];
  if (where === '') return [`it has ${what}, and waits to be scheduled to a node`];
  if (where === undefined) return [`it has ${what}, and no container was set up with it yet`];
  return [
    `it has ${what}, and waits for node ${where}: no CNI ADD of ${attachment?.provider ?? ''} came to its agent. Is kubelet there, do Multus and the agent run?`,
  ];
}

function ofGone(life: Life, holding: readonly Tenure[]): string[] {
  if (holding.length > 0)
    return [
      `the Pod is gone from the cluster, and ${holding.map(({ addresses }) => addresses.join(' and ')).join(', ')} will be taken back: if that does not happen, is pod-watcher running and ready?`,
    ];
  const answering = life.tenures.flatMap(({ uses }) => uses.filter(({ until }) => until === ''));
  const held = answering.map(
    ({ containerId, node }) =>
      `its container ${containerId.slice(0, 12)} on node ${node} was never taken down, as far as the ledger knows: the address is kept back for it`,
  );
  const last = life.tenures.at(-1);
  if (!last) return ['it was never given an address, and asks no more'];
  const name = last.attachment ? podOf(last.attachment) : 'it';
  return [last.lost?.toUid ? `its addresses are its successor's` : `${name} has no address any more`, ...held];
}
