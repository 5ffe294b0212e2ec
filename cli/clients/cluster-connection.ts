/**
 * A connection to the allocators of a cluster, by the operator's kubeconfig: it finds their Pods, forwards their port, and identifies
 * by the certificate of IPLEDGER_TLS_CERT, else by --token-file or --service-account, else by the token of the kubeconfig.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Connection } from '../../lib/grpc/calls.ts';
import { connect } from '../../lib/grpc/http2/connect.ts';
import type { ClusterSelection } from '../../lib/kubernetes/client/cluster-access.ts';
import { connectApi, loadKubeconfig } from '../../lib/kubernetes/client/kubernetes-api.ts';
import { errorMessage } from '../../lib/kubernetes/client/api-error.ts';
import { AuthorityReloader } from '../../lib/tls/authority-reloader.ts';
import { type ClientTls, tlsFromEnvironment, type TokenSource } from '../../lib/tls/client-tls.ts';
import { TokenFile } from '../../lib/tls/token-file.ts';
import { CliError } from '../program/cli-error.ts';
import { findAllocators, readAuthority } from './cluster-allocators.ts';
import { KubeconfigToken } from './kubeconfig-token.ts';
import { createKubernetesClient, type KubernetesClient } from './kubernetes-client.ts';
import { type ForwardedPort, forwardPort } from './port-forward.ts';
import { ServiceAccountToken } from './service-account-token.ts';
import type { ServicePods } from './service-pods.ts';

export interface ClusterConnection extends Disposable {
  readonly connection: Connection;
  /** Why the last connection failed, if the forwarding of its port did. */
  failure(): string | undefined;
}

export interface ClusterTarget extends ClusterSelection {
  readonly namespace: string;
  readonly tokenFile?: string | undefined;
  /** The ServiceAccount whose token identifies the caller: NAME of `namespace`, or NAMESPACE/NAME. */
  readonly serviceAccount?: string | undefined;
}

/** @throws CliError when the allocators are not found, or the operator has no identity for them */
export async function connectCluster(target: ClusterTarget, signal: AbortSignal): Promise<ClusterConnection> {
  const { namespace } = target;
  const config = await loadKubeconfig(target).catch(throwUsageError);
  const kubernetes = createKubernetesClient(
    orUsageError(() => connectApi(config)),
    signal,
  );
  const token = hasCertificate(process.env) ? undefined : orUsageError(() => openToken(target, config, kubernetes));
  await token?.read(); // without one, the error comes before any request
  const allocators = await findAllocators(kubernetes, namespace);
  const folder = mkdtempSync(join(tmpdir(), 'ipledger-'));
  const ports: ForwardedPort[] = [];
  let connection: Connection | undefined;
  const close = (): void => {
    connection?.close();
    for (const port of ports) port[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const tls = await clientTls({ token, namespace, kubernetes, allocators, folder });
    const sockets = allocators.pods.map((_pod, index) => join(folder, String(index)));
    for (const [index, pod] of allocators.pods.entries())
      ports.push(await forwardPort(config, { namespace, pod, local: { path: sockets[index] ?? '' } }));
    connection = connect(sockets.map((socket) => `unix:${socket}`).join(','), tls);
  } catch (error) {
    close();
    throw error;
  }
  return {
    connection,
    failure: () => ports.find(({ failure }) => failure !== undefined)?.failure,
    [Symbol.dispose]: close,
  };
}

interface IdentityParts {
  /** undefined: the certificate of the environment. */
  readonly token: TokenSource | undefined;
  readonly namespace: string;
  readonly kubernetes: KubernetesClient;
  readonly allocators: ServicePods;
  readonly folder: string;
}

const hasCertificate = (env: NodeJS.ProcessEnv): boolean =>
  Boolean(env['IPLEDGER_TLS_CERT'] || env['IPLEDGER_TLS_KEY']);

/** A token is sent only to an allocator whose certificate is of the authority that the cluster or the operator names. */
async function clientTls({ token, namespace, kubernetes, allocators, folder }: IdentityParts): Promise<ClientTls> {
  const { env } = process;
  if (!token) return orUsageError(() => tlsFromEnvironment(env, undefined));
  let file = env['IPLEDGER_TLS_CA'] ?? '';
  if (file === '') {
    file = join(folder, 'ca.crt');
    writeFileSync(file, await readAuthority(kubernetes, namespace, allocators));
  }
  return { authorities: orUsageError(() => new AuthorityReloader(file)), token };
}

function openToken(
  { namespace, tokenFile, serviceAccount }: ClusterTarget,
  config: KubeConfig,
  kubernetes: KubernetesClient,
): TokenSource {
  if (tokenFile !== undefined) return new TokenFile(tokenFile);
  if (serviceAccount === undefined) return new KubeconfigToken(config);
  return new ServiceAccountToken(kubernetes, serviceAccount, namespace);
}

/** Settings of the operator that are invalid are errors of usage. */
function orUsageError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    return throwUsageError(error);
  }
}

function throwUsageError(error: unknown): never {
  throw error instanceof CliError ? error : new CliError('usage', errorMessage(error), { cause: error });
}
