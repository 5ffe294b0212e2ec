/**
 * Reads what the chart installs beside the programs: workloads, definitions, Leases, backups,
 * checkpoints.
 */
import { pause } from '../../lib/process/abortable.ts';
import { createLeaseObserver } from '../../lib/kubernetes/lease-observer.ts';
import { ownGroup } from '../../lib/kubernetes/beside-kube-ovn.ts';
import { conditionOf } from '../../lib/kubernetes/object-meta.ts';
import { asNumber, asRecord, asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import type { KubernetesClient } from '../clients/kubernetes-client.ts';
import type { Facts, Workload } from './facts.ts';

type Reader = Pick<KubernetesClient, 'get' | 'list' | 'besideKubeOvn'>;

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** Multus' definition first: without it no Pod has a secondary network. */
const networkDefinition = 'network-attachment-definitions.k8s.cni.cncf.io';
const definitionNames = (besideKubeOvn: boolean): string[] => {
  const group = besideKubeOvn ? ownGroup : 'kubeovn.io';
  return [networkDefinition, ...['subnets', 'ippools', 'ips', 'vips'].map((kind) => `${kind}.${group}`)];
};

/** @throws CliError when they cannot be read */
export const readDefinitions = ({ get, besideKubeOvn }: Reader): Promise<NonNullable<Facts['definitions']>> =>
  Promise.all(
    definitionNames(besideKubeOvn).map(async (name) => {
      const found = await get(`${definitions}/${name}`);
      const { status } = conditionOf(asRecord(found?.['status']), 'Established');
      return { name, ...(found && { isEstablished: status === 'True' }) };
    }),
  );

/** The workloads of ipledger, and the DaemonSets of Multus. @throws CliError */
export async function readWorkloads({ list }: Reader, namespace: string): Promise<Workload[]> {
  const selector = encodeURIComponent('app.kubernetes.io/name=ipledger');
  const own = `/apis/apps/v1/namespaces/${namespace}`;
  const [deployments, sets, daemons] = await Promise.all([
    list(`${own}/deployments?labelSelector=${selector}`),
    list(`${own}/statefulsets?labelSelector=${selector}`),
    list('/apis/apps/v1/daemonsets'),
  ]);
  const isOwnOrMultus = ({ metadata }: UntypedJson): boolean => {
    const { namespace: of, labels, name } = asRecord(metadata);
    const isOwn = of === namespace && asRecord(labels)['app.kubernetes.io/name'] === 'ipledger';
    return isOwn || asText(name).includes('multus');
  };
  return [
    ...deployments.map((each) => parseReplicated('Deployment', each)),
    ...sets.map((each) => parseReplicated('StatefulSet', each)),
    ...daemons.filter(isOwnOrMultus).map(parseDaemonSet),
  ];
}

function parseReplicated(kind: string, item: UntypedJson): Workload {
  const [spec, status] = [asRecord(item['spec']), asRecord(item['status'])];
  const [desired, ready] = [asNumber(spec['replicas']) ?? 1, asNumber(status['readyReplicas']) ?? 0];
  return { kind, ...nameOf(item), desired, ready, updated: asNumber(status['updatedReplicas']) ?? 0 };
}

function parseDaemonSet(item: UntypedJson): Workload {
  const status = asRecord(item['status']);
  return {
    kind: 'DaemonSet',
    ...nameOf(item),
    desired: asNumber(status['desiredNumberScheduled']) ?? 0,
    ready: asNumber(status['numberReady']) ?? 0,
    updated: asNumber(status['updatedNumberScheduled']) ?? 0,
  };
}

function nameOf(item: UntypedJson): { namespace: string; name: string } {
  const { namespace, name } = asRecord(item['metadata']);
  return { namespace: asText(namespace), name: asText(name) };
}

const readAgainMs = 500;

/**
 * Whether a program renews its Lease, judged by repeated reads: a holder that has stopped takes the
 * duration of the Lease.
 * @throws CliError when it cannot be read
 */
export async function observeLease(
  { get }: Reader,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<NonNullable<Facts['leases']>[number]> {
  const observe = createLeaseObserver();
  for (;;) {
    const status = observe(await get(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`));
    if (status === 'absent') return { name };
    if (status !== 'unknown') return { name, holder: status.holder };
    await pause(readAgainMs, signal);
    signal.throwIfAborted();
  }
}

/** null: the chart makes no backups. @throws CliError */
export async function readBackup({ get }: Reader, namespace: string): Promise<Facts['backup']> {
  const found = await get(`/apis/batch/v1/namespaces/${namespace}/cronjobs/ipledger-etcd-backup`);
  if (!found) return null;
  const status = asRecord(found['status']);
  return {
    scheduledAt: asText(status['lastScheduleTime']),
    succeededAt: asText(status['lastSuccessfulTime']),
    isSuspended: asRecord(found['spec'])['suspend'] === true,
  };
}

/**
 * The time of the newest checkpoint that the pod-watcher stored; "" without one.
 * @throws CliError
 */
export async function readNewestCheckpoint({ get }: Reader, namespace: string): Promise<string> {
  const found = await get(`/api/v1/namespaces/${namespace}/configmaps/ipledger-checkpoints`);
  const times = Object.values(asRecord(found?.['data'])).map((note) => /^time (\S+)/m.exec(asText(note))?.[1] ?? '');
  return times.toSorted().at(-1) ?? '';
}
