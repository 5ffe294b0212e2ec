/** A connection to the chart's etcd by the kubeconfig: forwarded ports and certificate files. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterSelection } from '../../lib/kubernetes/client/cluster-access.ts';
import { connectApi, loadKubeconfig } from '../../lib/kubernetes/client/kubernetes-api.ts';
import { asRecord, asRecords, asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import { CliError, throwUsageError } from '../cli-error.ts';
import { createKubernetesClient, type KubernetesClient } from './kubernetes-client.ts';
import { type ForwardedPort, forwardPort } from './port-forward.ts';
import { annotationOf, findServicePods } from './service-pods.ts';

const serviceName = 'ipledger-etcd';
const portName = 'client';
/** The Service names the Secret of etcd's user for auditors. */
const secretAnnotation = 'ipledger.io/auditor-secret';

export interface EtcdTarget extends ClusterSelection {
  readonly namespace: string;
  /** A Secret with ca.crt, tls.crt and tls.key. Default: that of the auditor. */
  readonly secret?: string | undefined;
}

export interface ClusterEtcd extends Disposable {
  /** Local addresses of the members, as "https://localhost:40001,https://localhost:40002". */
  readonly endpoints: string;
  /** The certificate files; undefined for an etcd without TLS. */
  readonly files: { readonly ca: string; readonly cert: string; readonly key: string } | undefined;
  /** Why the last connection failed, if the forwarding of its port did. */
  failure(): string | undefined;
}

/** @throws CliError when etcd is not found, or the operator may not read the Secret */
export async function openClusterEtcd(target: EtcdTarget, signal: AbortSignal): Promise<ClusterEtcd> {
  const { namespace } = target;
  const config = await loadKubeconfig(target).catch(throwUsageError);
  const kubernetes = createKubernetesClient(connectApi(config), signal);
  const advice = 'set --namespace to where ipledger is installed; an external etcd is reached at its own endpoints';
  const { service, pods } = await findServicePods(kubernetes, namespace, { name: serviceName, port: portName, advice });
  const secret = target.secret ?? annotationOf(service, secretAnnotation);
  if (isSecure(service) && secret === '')
    throw new CliError(
      'usage',
      `Service ${serviceName} of ${namespace} names no Secret of an auditor: set --secret, or etcd.managed.secrets.auditor of the chart`,
    );
  const folder = mkdtempSync(join(tmpdir(), 'ipledger-'));
  const ports: ForwardedPort[] = [];
  const close = (): void => {
    for (const port of ports) port[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const files = isSecure(service) ? await writeFiles(kubernetes, { namespace, secret, folder }) : undefined;
    for (const pod of pods)
      ports.push(await forwardPort(config, { namespace, pod, local: { host: '127.0.0.1', port: 0 } }));
    const scheme = files ? 'https' : 'http';
    return {
      endpoints: ports.map(({ port }) => `${scheme}://localhost:${port}`).join(','),
      files,
      failure: () => ports.find(({ failure }) => failure !== undefined)?.failure,
      [Symbol.dispose]: close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** Whether the members serve TLS, as the port of the Service states. */
function isSecure(service: UntypedJson): boolean {
  const ports = asRecords(asRecord(service['spec'])['ports']);
  return ports.find(({ name }) => name === portName)?.['appProtocol'] === 'https';
}

/** Writes the certificate files, which only this user can read, into a folder. */
async function writeFiles(
  kubernetes: KubernetesClient,
  { namespace, secret, folder }: { readonly namespace: string; readonly secret: string; readonly folder: string },
): Promise<ClusterEtcd['files']> {
  const object = await kubernetes.get(`/api/v1/namespaces/${namespace}/secrets/${encodeURIComponent(secret)}`);
  const data = asRecord(object?.['data']);
  const write = (name: string): string => {
    const bytes = Buffer.from(asText(data[name]), 'base64');
    if (bytes.length === 0) throw new CliError('unreachable', `Secret ${secret} of ${namespace} has no ${name}`);
    const file = join(folder, name);
    writeFileSync(file, bytes, { mode: 0o600 });
    return file;
  };
  return { ca: write('ca.crt'), cert: write('tls.crt'), key: write('tls.key') };
}
