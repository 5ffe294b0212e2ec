/** Tokens that identify an operator: of the kubeconfig's user, or of a ServiceAccount that this user requests. */
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import { asRecord, asText } from '../../lib/kubernetes/untyped-json.ts';
import type { TokenSource } from '../../lib/tls/client-tls.ts';
import { CliError } from '../cli-error.ts';
import type { KubernetesClient } from './kubernetes-client.ts';

const scheme = 'Bearer ';
/** A long `watch` sends the token once for each stream; a long `check` sends it often. */
const kubeconfigMaxAgeMs = 10_000;
/** Only the ledger accepts the token of a ServiceAccount, and not the Kubernetes API. */
const audience = 'ipledger';
/** The shortest lifetime that the Kubernetes API allows, and when a long verb requests the next token. */
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

/** The token of a field, a file, or a program that the kubeconfig names. `read` throws CliError when the user has no token, or impersonates. */
export const kubeconfigToken = (config: KubeConfig): TokenSource =>
  refreshToken(() => readToken(config), kubeconfigMaxAgeMs);

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
    `the user of the kubeconfig has ${options.cert ? 'a client certificate and no token' : 'no token'}, and an allocator verifies tokens only. Use the token of a ServiceAccount that has one of ipledger's roles (--service-account NAME requests it; --token-file FILE reads it), a certificate of ipledger (IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY), or another --context`,
  );
}

/**
 * Serves only users with a client certificate. `read` throws CliError when the user may not create tokens of the ServiceAccount, and when
 * there is none.
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
