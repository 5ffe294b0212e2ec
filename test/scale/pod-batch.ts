/**
 * Creates, patches and deletes many Pods and their IP objects, as fast as the API server accepts
 * it.
 */
import type { Api } from '../../lib/kubernetes/client/kubernetes-api.ts';
import { ips } from '../../services/pod-watcher/kubernetes/objects/ip.ts';
import { networksAnnotation, type Pod, toPod } from '../../services/pod-watcher/kubernetes/objects/pod.ts';
import type { HeldAllocation } from '../../services/pod-watcher/ledger/ledger-events.ts';
import { type IpManifest, ipManifest } from '../../services/pod-watcher/projection/ip-object.ts';
import { podPatch } from '../../services/pod-watcher/projection/pod-annotations.ts';
import { forEachConcurrent } from './for-each-concurrent.ts';

/**
 * The concurrent requests: for Pods as when a Deployment is scaled up, for writes as pod-watcher
 * allows.
 */
export const maxPodRequests = 64;
export const maxWrites = 16;
const timeoutMs = 60_000;
const nodeName = 'node-1';

export interface PodBatch {
  readonly namespace: string;
  readonly names: readonly string[];
  /** Names of the networks that each Pod is attached to, all in namespace `default`. */
  readonly networks: readonly string[];
  /** The labels of each Pod. Default: none. */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * Whether each Pod is created without a Node, then bound to one, as by a scheduler. Otherwise it
   * is created with its Node.
   */
  readonly scheduled?: boolean;
}

/** Defines a batch. @param count Pods, named "web-0001" and so on */
export function definePodBatch(namespace: string, count: number, networks: readonly string[]): PodBatch {
  const names = Array.from({ length: count }, (_, index) => `web-${String(index + 1).padStart(4, '0')}`);
  return { namespace, names, networks };
}

/** Creates all Pods. Returns them as the API server stored them. */
export async function createPods(api: Api, batch: PodBatch, signal: AbortSignal): Promise<Pod[]> {
  const { namespace, names, networks, labels = {}, scheduled = false } = batch;
  const created: Pod[] = [];
  const annotations = { [networksAnnotation]: networks.map((network) => `default/${network}`).join(',') };
  const containers = [{ name: 'box', image: 'box' }];
  const spec = { restartPolicy: 'Never', containers, ...(!scheduled && { nodeName }) };
  const post = (path: string, body: object) => api.request({ method: 'POST', path, body, timeoutMs, signal });
  await forEachConcurrent(names, maxPodRequests, async (name) => {
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels, annotations }, spec };
    created.push(toPod(await post(podsPath(namespace), body)));
    if (!scheduled) return;
    const target = { apiVersion: 'v1', kind: 'Node', name: nodeName };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target };
    await post(`${podsPath(namespace)}/${name}/binding`, binding);
  });
  return created;
}

/** Deletes all Pods without a grace period, as kubelets do after the containers ended. */
export async function deletePods(api: Api, { namespace, names }: PodBatch, signal: AbortSignal): Promise<void> {
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 };
  await forEachConcurrent(names, maxPodRequests, (name) =>
    api.request({ method: 'DELETE', path: `${podsPath(namespace)}/${name}`, body, timeoutMs, signal }),
  );
}

/**
 * The writes of pod-watcher for Pods with addresses: one annotation patch for each Pod, one IP
 * object for each address.
 */
export interface ProjectionWrites {
  readonly patches: readonly { readonly path: string; readonly body: unknown }[];
  readonly ips: readonly IpManifest[];
}

/**
 * Generates addresses for the Pods, and plans the writes that show them.
 * @param first the index of the first Pod in its batch
 */
export function planWrites(pods: readonly Pod[], { networks }: PodBatch, first = 0): ProjectionWrites {
  const allocations = pods.map((pod, index) =>
    networks.map((network, nic) => inventAllocation(pod, { network, nic, index: first + index })),
  );
  const patches = pods.map((pod, index) => ({
    path: `${podsPath(pod.namespace)}/${pod.name}`,
    body: podPatch(pod, allocations[index] ?? [], () => undefined).patch,
  }));
  return { patches, ips: allocations.flat().map((allocation) => ipManifest(allocation, nodeName)) };
}

function inventAllocation(
  { namespace, name, uid }: Pod,
  { network, nic, index }: { readonly network: string; readonly nic: number; readonly index: number },
): HeldAllocation {
  const address = `10.${240 + nic}.${(index >> 8) & 255}.${index & 255}`;
  return {
    seq: 1_000_000 + index,
    namespace,
    pod: name,
    uid,
    provider: `${network}.default`,
    ordinal: 0,
    subnet: network,
    addresses: [{ address, cidr: `10.${240 + nic}.0.0/16`, gateway: `10.${240 + nic}.0.1` }],
    mac: '',
    interface: '',
    node: nodeName,
    owner: undefined,
    isStatic: false,
  };
}

/** Patches the Pods, then creates the IP objects. */
export async function applyWrites(
  api: Api,
  { patches, ips: manifests }: ProjectionWrites,
  signal: AbortSignal,
): Promise<void> {
  const contentType = 'application/merge-patch+json';
  await forEachConcurrent(patches, maxWrites, (patch) =>
    api.request({ method: 'PATCH', ...patch, contentType, timeoutMs, signal }),
  );
  await forEachConcurrent(manifests, maxWrites, (body) =>
    api.request({ method: 'POST', path: ips.path, body, timeoutMs, signal }),
  );
}

/** Deletes the IP objects. */
export async function deleteIpObjects(
  api: Api,
  { ips: manifests }: ProjectionWrites,
  signal: AbortSignal,
): Promise<void> {
  const body = { kind: 'DeleteOptions', apiVersion: 'v1' };
  await forEachConcurrent(manifests, maxWrites, ({ metadata: { name } }) =>
    api.request({ method: 'DELETE', path: `${ips.path}/${name}`, body, timeoutMs, signal }),
  );
}

const podsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
