/** Finds the allocators of a cluster: the ready Pods behind their Service, and the authority of their certificates. */
import { asRecord, asText } from '../../lib/kubernetes/untyped-json.ts';
import { CliError } from '../program/cli-error.ts';
import type { KubernetesClient } from './kubernetes-client.ts';
import { annotationOf, findServicePods, type ServicePods } from './service-pods.ts';

const serviceName = 'ipledger-allocator';
/** The Service names the Secret whose ca.crt is the authority. */
const authorityAnnotation = 'ipledger.io/authority-secret';

/** @throws CliError without a ready Pod, and when the Kubernetes API does not answer */
export const findAllocators = (kubernetes: KubernetesClient, namespace: string): Promise<ServicePods> =>
  findServicePods(kubernetes, namespace, {
    name: serviceName,
    port: 'grpc',
    advice: 'set --allocator kubernetes/NAMESPACE to where ipledger is installed',
  });

/** Returns the authority in PEM. @throws CliError without one, and when the user may not read it */
export async function readAuthority(
  kubernetes: KubernetesClient,
  namespace: string,
  { service }: ServicePods,
): Promise<Buffer> {
  const advice = 'set IPLEDGER_TLS_CA to a file with the authority of the allocators';
  const authoritySecret = annotationOf(service, authorityAnnotation);
  if (authoritySecret === '')
    throw new CliError(
      'unreachable',
      `Service ${serviceName} of ${namespace} has no annotation ${authorityAnnotation}: ${advice}, or install with kubernetesUsers`,
    );
  const secret = await kubernetes.get(`/api/v1/namespaces/${namespace}/secrets/${authoritySecret}`);
  const pem = Buffer.from(asText(asRecord(secret?.['data'])['ca.crt']), 'base64');
  if (pem.length > 0) return pem;
  throw new CliError('unreachable', `Secret ${authoritySecret} of ${namespace} has no ca.crt: ${advice}`);
}
