/** Finds the ready Pods behind a Service of ipledger. */
import { isReady } from '../../lib/kubernetes/object-meta.ts';
import { asRecord, asRecords, asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import { formatShellCommand } from '../shell-command.ts';
import { CliError } from '../cli-error.ts';
import type { KubernetesClient } from './kubernetes-client.ts';

/** The number that a client needs to fail over. */
const maxPods = 3;

/** Name of a Service, and of the port that its Pods serve. */
export interface ServiceName {
  readonly name: string;
  readonly port: string;
}

export interface ServicePod {
  readonly name: string;
  readonly port: number;
}

export interface ServicePods {
  readonly service: UntypedJson;
  readonly pods: readonly ServicePod[];
}

/** @throws CliError without a ready Pod, and when the Kubernetes API does not answer */
export async function findServicePods(
  kubernetes: KubernetesClient,
  namespace: string,
  { name, port, advice }: ServiceName & { readonly advice: string },
): Promise<ServicePods> {
  const folder = `/api/v1/namespaces/${namespace}`;
  const service = await kubernetes.get(`${folder}/services/${name}`);
  if (!service) throw new CliError('unreachable', `namespace ${namespace} has no Service ${name}: ${advice}`);
  const selector = Object.entries(asRecord(asRecord(service['spec'])['selector']));
  const labels = selector.map(([label, value]) => `${label}=${asText(value)}`).join(',');
  if (labels === '') throw new CliError('unreachable', `Service ${name} of ${namespace} selects no Pods`);
  const list = await kubernetes.get(`${folder}/pods?labelSelector=${encodeURIComponent(labels)}`);
  const ready = asRecords(list?.['items'])
    .filter(isReady)
    .flatMap((pod) => podWithPort(pod, port) ?? []);
  if (ready.length === 0) {
    const describe = ['kubectl', 'describe', 'pods', '-n', namespace, '-l', labels];
    const command = formatShellCommand(describe, 'Last State of a program that ended states why');
    throw new CliError('unreachable', `no Pod behind Service ${name} of ${namespace} is ready. Run: ${command}`);
  }
  return { service, pods: ready.slice(0, maxPods) };
}

/** An annotation of a Service; '' without it. */
export const annotationOf = (service: UntypedJson, name: string): string =>
  asText(asRecord(asRecord(service['metadata'])['annotations'])[name]);

function podWithPort(pod: UntypedJson, portName: string): ServicePod | undefined {
  const ports = asRecords(asRecord(pod['spec'])['containers']).flatMap((container) => asRecords(container['ports']));
  const port = ports.find(({ name }) => name === portName)?.['containerPort'];
  return typeof port === 'number' ? { name: asText(asRecord(pod['metadata'])['name']), port } : undefined;
}
