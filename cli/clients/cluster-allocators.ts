/** Finds the allocators of a cluster: the ready Pods behind their Service, and the authority of their certificates. */
import { asRecord, asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import { CliError } from '../program/cli-error.ts';
import type { KubernetesClient } from './kubernetes-client.ts';

const serviceName = 'ipledger-allocator';
const portName = 'grpc';
/** The Service names the Secret whose ca.crt is the authority. */
const authorityAnnotation = 'ipledger.io/authority-secret';
/** As many as a channel needs to fail over. */
const maxPods = 3;

export interface AllocatorPod {
  readonly name: string;
  readonly port: number;
}

export interface ClusterAllocators {
  readonly pods: readonly AllocatorPod[];
  /** Name of the Secret; undefined if the Service names none. */
  readonly authoritySecret: string | undefined;
}

/** @throws CliError without a ready Pod, and when the Kubernetes API does not answer */
export async function findAllocators(kubernetes: KubernetesClient, namespace: string): Promise<ClusterAllocators> {
  const folder = `/api/v1/namespaces/${namespace}`;
  const service = await kubernetes.get(`${folder}/services/${serviceName}`);
  if (!service)
    throw new CliError(
      'unreachable',
      `namespace ${namespace} has no Service ${serviceName}: set --allocator kubernetes/NAMESPACE to where ipledger is installed`,
    );
  const selector = Object.entries(asRecord(asRecord(service['spec'])['selector']));
  const labels = selector.map(([label, value]) => `${label}=${asText(value)}`).join(',');
  if (labels === '') throw new CliError('unreachable', `Service ${serviceName} of ${namespace} selects no Pods`);
  const list = await kubernetes.get(`${folder}/pods?labelSelector=${encodeURIComponent(labels)}`);
  const pods = Array.isArray(list?.['items']) ? list['items'].map(asRecord) : [];
  const ready = pods.filter(isReady).flatMap((pod) => podWithPort(pod) ?? []);
  if (ready.length === 0)
    throw new CliError(
      'unreachable',
      `no Pod behind Service ${serviceName} of ${namespace} is ready: check kubectl get pods -n ${namespace}`,
    );
  const { annotations } = asRecord(service['metadata']);
  const authoritySecret = asText(asRecord(annotations)[authorityAnnotation]);
  return { pods: ready.slice(0, maxPods), authoritySecret: authoritySecret || undefined };
}

/** Returns the authority in PEM. @throws CliError without one, and when the user may not read it */
export async function readAuthority(
  kubernetes: KubernetesClient,
  namespace: string,
  { authoritySecret }: ClusterAllocators,
): Promise<Buffer> {
  const advice = 'set IPLEDGER_TLS_CA to a file with the authority of the allocators';
  if (authoritySecret === undefined)
    throw new CliError(
      'unreachable',
      `Service ${serviceName} of ${namespace} has no annotation ${authorityAnnotation}: ${advice}, or install with kubernetesUsers`,
    );
  const secret = await kubernetes.get(`/api/v1/namespaces/${namespace}/secrets/${authoritySecret}`);
  const pem = Buffer.from(asText(asRecord(secret?.['data'])['ca.crt']), 'base64');
  if (pem.length > 0) return pem;
  throw new CliError('unreachable', `Secret ${authoritySecret} of ${namespace} has no ca.crt: ${advice}`);
}

const isReady = (pod: UntypedJson): boolean => {
  const { conditions } = asRecord(pod['status']);
  const isTrue = (condition: unknown): boolean =>
    asRecord(condition)['type'] === 'Ready' && asRecord(condition)['status'] === 'True';
  return Array.isArray(conditions) && conditions.some(isTrue);
};

function podWithPort(pod: UntypedJson): AllocatorPod | undefined {
  const { containers } = asRecord(pod['spec']);
  const ports = (Array.isArray(containers) ? containers : []).flatMap((container) => {
    const list = asRecord(container)['ports'];
    return Array.isArray(list) ? list.map(asRecord) : [];
  });
  const port = ports.find(({ name }) => name === portName)?.['containerPort'];
  return typeof port === 'number' ? { name: asText(asRecord(pod['metadata'])['name']), port } : undefined;
}
