/** Reads why the networks of Pods cannot be set up: the newest CNI error of Pods that wait. */
import { asRecord, asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import type { KubernetesClient } from '../clients/kubernetes-client.ts';
import type { SandboxFailure } from './facts.ts';
import { shorten } from './pod-problems.ts';
import { timeOf } from './read-warnings.ts';

/** Each Pod is one request. */
const maxPods = 50;
/** kubelet repeats the Event at least as often while the error stays. */
const recentMs = 15 * 60_000;
const networkAnnotations = ['k8s.v1.cni.cncf.io/networks', 'v1.multus-cni.io/default-network'];

/** @throws CliError when the Events or the Pods cannot be read */
export async function readSandboxFailures(
  { get, list }: Pick<KubernetesClient, 'get' | 'list'>,
  now: number,
): Promise<SandboxFailure[]> {
  const selector = encodeURIComponent('reason=FailedCreatePodSandBox');
  const events = await list(`/api/v1/events?fieldSelector=${selector}`);
  const newestFirst = events
    .map((event) => ({ event, at: Date.parse(timeOf(event)) }))
    .filter(({ at }) => now - at < recentMs)
    .toSorted((one, other) => other.at - one.at);
  const byPod = Map.groupBy(newestFirst, ({ event }) => asText(asRecord(event['involvedObject'])['uid']));
  const newest = [...byPod.values()].flatMap(([first]) => (first ? [first.event] : [])).slice(0, maxPods);
  const found = await Promise.all(newest.map((event) => failureOf(event, get)));
  return found.filter((each) => each !== undefined);
}

/** Undefined for a Pod that runs, that was created again, or that requests no such network. */
async function failureOf(event: UntypedJson, get: KubernetesClient['get']): Promise<SandboxFailure | undefined> {
  const { namespace, name, uid } = asRecord(event['involvedObject']);
  const key = `${asText(namespace)}/${asText(name)}`;
  const pod = await get(`/api/v1/namespaces/${asText(namespace)}/pods/${asText(name)}`);
  const metadata = asRecord(pod?.['metadata']);
  const annotations = asRecord(metadata['annotations']);
  const isWaiting = asRecord(pod?.['status'])['phase'] === 'Pending' && metadata['uid'] === uid;
  if (!isWaiting || !networkAnnotations.some((annotation) => annotation in annotations)) return undefined;
  const node = asText(asRecord(pod?.['spec'])['nodeName']);
  return { pod: key, node, message: shorten(asText(event['message'])) };
}
