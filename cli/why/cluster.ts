/** What Kubernetes shows of one Pod. */
import type { Kubernetes } from '../kubernetes.ts';
import { identityOf } from '../../lib/pod-identity.ts';
import { type Raw, record, text } from '../../lib/raw.ts';

const eventsShown = 5;

export interface PodInCluster {
  readonly uid: string;
  /** "" while it is not scheduled. */
  readonly node: string;
  readonly phase: string;
  readonly createdAt: string;
  /** "" unless it is being deleted. */
  readonly deletedAt: string;
  /** Whether it asks for attachments by the annotation of Multus. */
  readonly networks: string;
  /** Why containers of it wait, as "ContainerCreating". */
  readonly waiting: readonly string[];
  /** The last of Kubernetes' Events about it, oldest first. */
  readonly events: readonly PodEvent[];
}

export interface PodEvent {
  readonly at: string;
  /** Which component says so. */
  readonly from: string;
  readonly reason: string;
  readonly message: string;
}

/** The Pod of that name; undefined when there is none. @throws Failure when the API cannot be read. */
export async function podInCluster(
  kubernetes: Pick<Kubernetes, 'get'>,
  namespace: string,
  name: string,
): Promise<PodInCluster | undefined> {
  const inNamespace = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const item = await kubernetes.get(`${inNamespace}/pods/${encodeURIComponent(name)}`);
  if (!item) return undefined;
  const [metadata, spec, status] = [record(item['metadata']), record(item['spec']), record(item['status'])];
  const annotations = record(metadata['annotations']);
  const selector = new URLSearchParams({ fieldSelector: `involvedObject.uid=${text(metadata['uid'])}`, limit: '500' });
  const found = await kubernetes.get(`${inNamespace}/events?${selector}`);
  return {
    // A static Pod goes by the hash of its file, of which this object is only a mirror
    uid: identityOf({ name, uid: text(metadata['uid']), annotations }).uid,
    node: text(spec['nodeName']),
    phase: text(status['phase']),
    createdAt: text(metadata['creationTimestamp']),
    deletedAt: text(metadata['deletionTimestamp']),
    networks: text(annotations['k8s.v1.cni.cncf.io/networks']),
    waiting: waitingOf(status),
    events: items(found?.['items'])
      .map(eventOf)
      .toSorted((a, b) => (a.at < b.at ? -1 : 1))
      .slice(-eventsShown),
  };
}

const items = (list: unknown): Raw[] => (Array.isArray(list) ? list.map(record) : []);

const waitingOf = (status: Raw): string[] => [
  ...new Set(
    [...items(status['initContainerStatuses']), ...items(status['containerStatuses'])].flatMap((container) => {
      const reason = text(record(record(container['state'])['waiting'])['reason']);
      return reason === '' ? [] : [reason];
    }),
  ),
];

const eventOf = (item: Raw): PodEvent => ({
  at: text(item['lastTimestamp']) || text(item['eventTime']) || text(record(item['metadata'])['creationTimestamp']),
  from: text(record(item['source'])['component']),
  reason: text(item['reason']),
  message: text(item['message']),
});
