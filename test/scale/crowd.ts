/** Many Pods, and all that is written about them: made, changed and taken away as fast as an API server takes it. */
import { type Api } from '../../services/pod-watcher/kubernetes/api.ts';
import { ips } from '../../services/pod-watcher/kubernetes/kept-objects.ts';
import { networksAnnotation, type Pod, toPod } from '../../services/pod-watcher/kubernetes/objects.ts';
import type { Holding } from '../../services/pod-watcher/ledger/facts.ts';
import { type IpManifest, ipManifest } from '../../services/pod-watcher/projection/ip.ts';
import { podPatch } from '../../services/pod-watcher/projection/pod.ts';
import { each } from './each.ts';

/** As many requests at a time as one who scales a Deployment up hard, and as many writes as pod-watcher allows itself. */
const podsAtOnce = 64;
const writesAtOnce = 16;
const timeoutMs = 60_000;
const nodeName = 'node-1';

export interface Crowd {
  readonly namespace: string;
  readonly names: readonly string[];
  /** Networks that each Pod is attached to, by name; all in namespace `default`. */
  readonly networks: readonly string[];
  /** Each is created without a Node and bound to one right after, as a scheduler does; else it has it from the start. */
  readonly scheduled?: boolean;
}

/** @param count how many Pods, "<prefix>-0001" and so on. */
export function crowdOf(namespace: string, count: number, networks: readonly string[]): Crowd {
  const names = Array.from({ length: count }, (_, index) => `web-${String(index + 1).padStart(4, '0')}`);
  return { namespace, names, networks };
}

/** Creates all Pods; gives what the API made of them. */
export async function createPods(api: Api, crowd: Crowd, signal: AbortSignal): Promise<Pod[]> {
  const { namespace, names, networks, scheduled = false } = crowd;
  const made: Pod[] = [];
  const annotations = { [networksAnnotation]: networks.map((network) => `default/${network}`).join(',') };
  const containers = [{ name: 'box', image: 'box' }];
  const spec = { restartPolicy: 'Never', containers, ...(!scheduled && { nodeName }) };
  const post = (path: string, body: object) => api.request({ method: 'POST', path, body, timeoutMs, signal });
  await each(names, podsAtOnce, async (name) => {
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name, annotations }, spec };
    made.push(toPod(await post(podsPath(namespace), body)));
    if (!scheduled) return;
    const target = { apiVersion: 'v1', kind: 'Node', name: nodeName };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target };
    await post(`${podsPath(namespace)}/${name}/binding`, binding);
  });
  return made;
}

/** Deletes all Pods at once, as kubelets do when the containers are gone. */
export async function deletePods(api: Api, { namespace, names }: Crowd, signal: AbortSignal): Promise<void> {
  const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 };
  await each(names, podsAtOnce, (name) =>
    api.request({ method: 'DELETE', path: `${podsPath(namespace)}/${name}`, body, timeoutMs, signal }),
  );
}

/** What pod-watcher would write about these Pods, had they these addresses: one annotation patch a Pod, one IP object an address. */
export interface Writes {
  readonly patches: readonly { readonly path: string; readonly body: unknown }[];
  readonly ips: readonly IpManifest[];
}

/** Makes up addresses for Pods, and what says so. */
export function writesFor(pods: readonly Pod[], { networks }: Crowd): Writes {
  const holdings = pods.map((pod, index) => networks.map((network, nic) => madeUp(pod, { network, nic, index })));
  const patches = pods.map((pod, index) => ({
    path: `${podsPath(pod.namespace)}/${pod.name}`,
    body: podPatch(pod, holdings[index] ?? [], () => false),
  }));
  return { patches, ips: holdings.flat().map((holding) => ipManifest(holding, nodeName)) };
}

function madeUp(
  { namespace, name, uid }: Pod,
  { network, nic, index }: { readonly network: string; readonly nic: number; readonly index: number },
): Holding {
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
  };
}

/** Patches the Pods, then creates the IP objects. */
export async function write(api: Api, { patches, ips: manifests }: Writes, signal: AbortSignal): Promise<void> {
  const contentType = 'application/merge-patch+json';
  await each(patches, writesAtOnce, (patch) =>
    api.request({ method: 'PATCH', ...patch, contentType, timeoutMs, signal }),
  );
  await each(manifests, writesAtOnce, (body) =>
    api.request({ method: 'POST', path: ips.path, body, timeoutMs, signal }),
  );
}

/** Deletes the IP objects. */
export async function unwrite(api: Api, { ips: manifests }: Writes, signal: AbortSignal): Promise<void> {
  const body = { kind: 'DeleteOptions', apiVersion: 'v1' };
  await each(manifests, writesAtOnce, ({ metadata: { name } }) =>
    api.request({ method: 'DELETE', path: `${ips.path}/${name}`, body, timeoutMs, signal }),
  );
}

const podsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
