/**
 * Reads the newest log lines of ipledger's Pods: of each container, also of init containers, and of
 * the container that ended before.
 */
import type { KubernetesClient } from '../../clients/kubernetes-client.ts';
import { isReady } from '../../../lib/kubernetes/object-meta.ts';
import { asRecord, asRecords, asText, type UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';

const logMaxBytes = 4 << 20;
/** The limit for each kind of program: a cluster has thousands of agents. */
const maxPods = 20;

type NamedRead = readonly [path: string, read: () => Promise<string>];

export interface LogSources {
  readonly kubernetes: Pick<KubernetesClient, 'readText'>;
  readonly namespace: string;
  /** The Pods of ipledger, as the API server has them. */
  readonly pods: readonly UntypedJson[];
  readonly lines: number;
}

/** Pods that are not ready come first. */
export function readLogs({ pods, lines, ...sources }: LogSources): NamedRead[] {
  if (lines === 0) return [];
  return [...Map.groupBy(pods, componentOf).values()]
    .flatMap((group) => group.toSorted((one, other) => Number(isReady(one)) - Number(isReady(other))).slice(0, maxPods))
    .filter((pod) => asText(asRecord(pod['spec'])['nodeName']) !== '')
    .flatMap((pod) => containersOf(pod).flatMap((container) => readContainer(sources, pod, container, lines)));
}

const componentOf = (pod: UntypedJson): string =>
  asText(asRecord(asRecord(pod['metadata'])['labels'])['app.kubernetes.io/component']);

interface Container {
  readonly name: string;
  /** Whether an earlier container of this name ended. */
  readonly hasEnded: boolean;
}

/** The containers that run, or that ran; all of a Pod whose kubelet reports none. */
function containersOf(pod: UntypedJson): Container[] {
  const { containers, initContainers } = asRecord(pod['spec']);
  const { containerStatuses, initContainerStatuses } = asRecord(pod['status']);
  const statuses = [...asRecords(initContainerStatuses), ...asRecords(containerStatuses)];
  return [...asRecords(initContainers), ...asRecords(containers)].flatMap((each): Container[] => {
    const name = asText(each['name']);
    const status = statuses.find((one) => one['name'] === name);
    const [state, lastState] = [asRecord(status?.['state']), asRecord(status?.['lastState'])];
    const hasEnded = 'terminated' in lastState;
    const hasLog = statuses.length === 0 || hasEnded || 'running' in state || 'terminated' in state;
    return hasLog ? [{ name, hasEnded }] : [];
  });
}

function readContainer(
  { kubernetes, namespace }: Pick<LogSources, 'kubernetes' | 'namespace'>,
  pod: UntypedJson,
  { name, hasEnded }: Container,
  lines: number,
): NamedRead[] {
  const [podName, component] = [asText(asRecord(pod['metadata'])['name']), componentOf(pod)];
  const query = new URLSearchParams({ container: name, tailLines: String(lines), limitBytes: String(logMaxBytes) });
  const path = `/api/v1/namespaces/${namespace}/pods/${podName}/log?${query}`;
  const file = `logs/${component || 'other'}/${podName.slice(0, 80)}${name === component ? '' : `.${name}`}`;
  const previous = (): Promise<string> => kubernetes.readText(`${path}&previous=true`);
  return [
    [`${file}.log`, () => kubernetes.readText(path)],
    ...(hasEnded ? [[`${file}.previous.log`, previous] as const] : []),
  ];
}
