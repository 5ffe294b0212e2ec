/** Reads a Pod and its Events, and why the pod-watcher releases nothing in its namespace. */
import type { KubernetesClient } from '../../clients/kubernetes-client.ts';
import { nodeFailureOf } from '../../cluster/read-cluster.ts';
import { CliError } from '../../cli-error.ts';
import { haltedMassDeletions } from '../../../lib/kubernetes/mass-deletion-acceptance.ts';
import { podWatcherLeasePath } from '../../../lib/kubernetes/lease-observer.ts';
import { podIdentityOf } from '../../../lib/kubernetes/pod-identity.ts';
import { type UntypedJson, asRecord, asRecords, asText } from '../../../lib/kubernetes/untyped-json.ts';

/** The limit for Events of the pod-watcher, and that for Events of all other components. */
const maxEvents = 5;

export interface PodInCluster {
  readonly uid: string;
  /** The node; "" while the Pod is not scheduled. */
  readonly node: string;
  readonly phase: string;
  readonly createdAt: string;
  /** The time of the deletion; "" unless the Pod is being deleted. */
  readonly deletedAt: string;
  /** The value of Multus' annotation; "" without one. */
  readonly networks: string;
  /** Why containers wait, as "ContainerCreating". */
  readonly waiting: readonly string[];
  /** The failure: "is NotReady since …", "is deleted"; undefined if ready, or unreadable. */
  readonly nodeFailure?: string | undefined;
  /** The newest Events about the Pod, first those of the pod-watcher, which name the cause. */
  readonly events: readonly KubernetesEvent[];
}

export interface KubernetesEvent {
  readonly at: string;
  /** The component that reported it. */
  readonly from: string;
  readonly reason: string;
  readonly message: string;
}

/** Reads a Pod; undefined if it does not exist. @throws CliError when the API cannot be read. */
export async function readPodInCluster(
  kubernetes: Pick<KubernetesClient, 'get'>,
  namespace: string,
  name: string,
): Promise<PodInCluster | undefined> {
  const inNamespace = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const item = await kubernetes.get(`${inNamespace}/pods/${encodeURIComponent(name)}`);
  if (!item) return undefined;
  const [metadata, spec, status] = [asRecord(item['metadata']), asRecord(item['spec']), asRecord(item['status'])];
  const annotations = asRecord(metadata['annotations']);
  const selector = new URLSearchParams({
    fieldSelector: `involvedObject.uid=${asText(metadata['uid'])}`,
    limit: '500',
  });
  const node = asText(spec['nodeName']);
  const [events, nodeFailure] = await Promise.all([
    kubernetes.get(`${inNamespace}/events?${selector}`),
    node === '' ? undefined : readNodeFailure(kubernetes, node),
  ]);
  const newest = asRecords(events?.['items'])
    .map(parseEvent)
    .toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
  return {
    // The identity of a static Pod is the hash of its file, not the uid of the mirror Pod
    uid: podIdentityOf({ name, uid: asText(metadata['uid']), annotations }).uid,
    node,
    nodeFailure,
    phase: asText(status['phase']),
    createdAt: asText(metadata['creationTimestamp']),
    deletedAt: asText(metadata['deletionTimestamp']),
    networks: asText(annotations['k8s.v1.cni.cncf.io/networks']),
    waiting: parseWaiting(status),
    events: [
      ...newest.filter(isFromWatcher).slice(0, maxEvents),
      ...newest.filter((event) => !isFromWatcher(event)).slice(0, maxEvents),
    ],
  };
}

export const isFromWatcher = ({ from }: KubernetesEvent): boolean => from === 'ipledger-pod-watcher';

/** Reads the failure of a Node; undefined also without the permission to read Nodes. */
async function readNodeFailure(kubernetes: Pick<KubernetesClient, 'get'>, name: string): Promise<string | undefined> {
  try {
    const node = await kubernetes.get(`/api/v1/nodes/${encodeURIComponent(name)}`);
    return node ? nodeFailureOf(node) : 'is deleted';
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

const parseWaiting = (status: UntypedJson): string[] => [
  ...new Set(
    [...asRecords(status['initContainerStatuses']), ...asRecords(status['containerStatuses'])].flatMap((container) => {
      const reason = asText(asRecord(asRecord(container['state'])['waiting'])['reason']);
      return reason === '' ? [] : [reason];
    }),
  ),
];

const parseEvent = (item: UntypedJson): KubernetesEvent => ({
  at:
    asText(item['lastTimestamp']) ||
    asText(item['eventTime']) ||
    asText(asRecord(item['metadata'])['creationTimestamp']),
  from: asText(asRecord(item['source'])['component']),
  reason: asText(item['reason']),
  message: asText(item['message']),
});

/** The default of the pod-watcher. */
const watcherNamespace = 'kube-system';

/** Returns a clause with the remedy of halted releases, if the Lease can be read. */
export async function readReleaseHalt(
  kubernetes: Pick<KubernetesClient, 'get'>,
  namespace: string,
  installation: string,
): Promise<string | undefined> {
  for (const leaseNamespace of [installation, watcherNamespace]) {
    const lease = await kubernetes.get(podWatcherLeasePath(leaseNamespace)).catch((error: unknown) => {
      if (error instanceof CliError) return undefined;
      throw error;
    });
    const { pods } = haltedMassDeletions(lease ?? {});
    const missing = pods[namespace] ?? pods['*'];
    if (missing === undefined) continue;
    const remedy = `ipledger accept-mass-deletion --namespace ${leaseNamespace} --reason TEXT`;
    return `releases are halted in namespace ${namespace}, because ${missing} Pods are missing from the Kubernetes API. If the API server lost its data, restore it; if the Pods are really deleted, run: ${remedy}`;
  }
  return undefined;
}
