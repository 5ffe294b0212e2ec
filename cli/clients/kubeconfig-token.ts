/** The token of the kubeconfig's user: of a field, a file, or a program that the kubeconfig names. */
import type { RequestOptions } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';
import type { TokenSource } from '../../lib/tls/client-tls.ts';
import { CliError } from '../program/cli-error.ts';

const scheme = 'Bearer ';
/** A long `watch` sends it once for each stream; a long `check` sends it often. */
const maxAgeMs = 10_000;

export class KubeconfigToken implements TokenSource {
  readonly #config: KubeConfig;
  #latest: { readonly token: Promise<string>; readonly readAt: number } | undefined;

  constructor(config: KubeConfig) {
    this.#config = config;
  }

  /** @throws CliError when the user has no token, or impersonates another user */
  read(): Promise<string> {
    const now = performance.now();
    if (!this.#latest || now - this.#latest.readAt > maxAgeMs)
      this.#latest = { token: readToken(this.#config), readAt: now };
    return this.#latest.token;
  }
}

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
