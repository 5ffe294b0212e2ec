/**
 * A connection to the allocators of a cluster, by the operator's kubeconfig: it finds their Pods,
 * forwards their port, and identifies by the certificate of IPLEDGER_TLS_CERT, else by
 * --token-file, else by a token of the ServiceAccount that --service-account names, else by the
 * token of the kubeconfig.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Connection } from '../../lib/grpc/calls.ts';
import { connect } from '../../lib/grpc/http2/connect.ts';
import type { ClusterSelection } from '../../lib/kubernetes/client/cluster-access.ts';
import { connectApi, loadKubeconfig } from '../../lib/kubernetes/client/kubernetes-api.ts';
import { asRecord, asText } from '../../lib/kubernetes/untyped-json.ts';
import { AuthorityReloader } from '../../lib/tls/authority-reloader.ts';
import { type ClientTls, tlsFromEnvironment, type TokenSource } from '../../lib/tls/client-tls.ts';
import { TokenFile } from '../../lib/tls/token-file.ts';
import { CliError, orUsageError, throwUsageError } from '../cli-error.ts';
import { createKubernetesClient, type KubernetesClient } from './kubernetes-client.ts';
import { type ForwardedPort, forwardPort } from './port-forward.ts';
import { annotationOf, findServicePods, type ServicePods } from './service-pods.ts';
import type { RequestOptions } from 'node:https';

const serviceName = 'ipledger-allocator';
/** The Service names the Secret whose ca.crt is the authority. */
const authorityAnnotation = 'ipledger.io/authority-secret';

export interface ClusterConnection extends Disposable {
  readonly connection: Connection;
  /** Why the last connection failed, if the forwarding of its port did. */
  failure(): string | undefined;
}

export interface ClusterTarget extends ClusterSelection {
  readonly namespace: string;
  readonly tokenFile?: string | undefined;
  /** The ServiceAccount that identifies the caller: NAME of `namespace`, or NAMESPACE/NAME. */
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

/** @throws CliError without a ready Pod, and when the Kubernetes API does not answer */
const findAllocators = (kubernetes: KubernetesClient, namespace: string): Promise<ServicePods> =>
  findServicePods(kubernetes, namespace, {
    name: serviceName,
    port: 'grpc',
    advice: 'set --allocator kubernetes/NAMESPACE to where ipledger is installed',
  });

/** Returns the authority in PEM. @throws CliError without one, and when the user may not read it */
async function readAuthority(
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

interface IdentityParts {
  /** The token; undefined for the certificate of the environment. */
  readonly token: TokenSource | undefined;
  readonly namespace: string;
  readonly kubernetes: KubernetesClient;
  readonly allocators: ServicePods;
  readonly folder: string;
}

const hasCertificate = (env: NodeJS.ProcessEnv): boolean =>
  Boolean(env['IPLEDGER_TLS_CERT'] || env['IPLEDGER_TLS_KEY']);

/** Sends a token only to an allocator with a certificate of a trusted authority. */
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
  if (serviceAccount === undefined) return kubeconfigToken(config);
  return serviceAccountToken(kubernetes, serviceAccount, namespace);
}

const scheme = 'Bearer ';
/** The age at which the kubeconfig is read again: a long `check` sends its token often. */
const kubeconfigMaxAgeMs = 10_000;
/** The audience of a ServiceAccount's token: the ledger accepts it, the Kubernetes API does not. */
const audience = 'ipledger';
/** The shortest lifetime that the API allows. A long verb gets a new token after half of it. */
const lifetimeSeconds = 600;
const serviceAccountMaxAgeMs = 300_000;

/** Reads a token again when it is older than `maxAgeMs`. */
function refreshToken(request: () => Promise<string>, maxAgeMs: number): TokenSource {
  let latest: { readonly token: Promise<string>; readonly requestedAt: number } | undefined;
  return {
    read() {
      const now = performance.now();
      if (!latest || now - latest.requestedAt > maxAgeMs) latest = { token: request(), requestedAt: now };
      return latest.token;
    },
  };
}

/** The token of the kubeconfig. `read` throws CliError without a token, and for impersonation. */
const kubeconfigToken = (config: KubeConfig): TokenSource => refreshToken(() => readToken(config), kubeconfigMaxAgeMs);

async function readToken(config: KubeConfig): Promise<string> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers = new Headers(options.headers as Record<string, string> | undefined);
  if (headers.has('Impersonate-User'))
    throw new CliError(
      'usage',
      'the kubeconfig impersonates another user, which an allocator cannot verify: use a context without "as", or a token of that user with --token-file',
    );
  const authorization = headers.get('Authorization') ?? '';
  if (authorization.startsWith(scheme)) return authorization.slice(scheme.length);
  throw new CliError(
    'usage',
    `the user of the kubeconfig has ${options.cert ? 'a client certificate and no token' : 'no token'}, and an allocator verifies tokens only. Use the token of a ServiceAccount that has one of ipledger's roles (--service-account NAME requests it; --token-file FILE reads it), a certificate of ipledger (IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY), or another --context. docs/install.md#a-kubeconfig-without-a-token has the commands`,
  );
}

/**
 * Requests tokens of a ServiceAccount, for a user who has no token of the cluster. `read` throws
 * CliError when the user may not create tokens of the ServiceAccount, and when there is none.
 * @param account NAME of the namespace, or NAMESPACE/NAME
 * @throws CliError for another form
 */
export function serviceAccountToken(
  kubernetes: Pick<KubernetesClient, 'create'>,
  account: string,
  namespace: string,
): TokenSource {
  const [, ofNamespace = namespace, name] = /^(?:([a-z0-9-]{1,63})\/)?([a-z0-9.-]{1,253})$/.exec(account) ?? [];
  if (name === undefined)
    throw new CliError('usage', `--service-account ${account}: write NAME, or NAMESPACE/NAME of another namespace`);
  const path = `/api/v1/namespaces/${ofNamespace}/serviceaccounts/${name}/token`;
  const spec = { audiences: [audience], expirationSeconds: lifetimeSeconds };
  return refreshToken(async () => {
    const reply = await kubernetes.create(path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec });
    return asText(asRecord(reply['status'])['token']);
  }, serviceAccountMaxAgeMs);
}
