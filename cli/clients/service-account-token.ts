/** Tokens of a ServiceAccount that the caller's Kubernetes user requests: an identity for users with a client certificate only. */
import { asRecord, asText } from '../../lib/kubernetes/untyped-json.ts';
import type { TokenSource } from '../../lib/tls/client-tls.ts';
import { CliError } from '../program/cli-error.ts';
import type { KubernetesClient } from './kubernetes-client.ts';

/** Only the ledger accepts it, and not the Kubernetes API. */
const audience = 'ipledger';
/** The shortest lifetime that the Kubernetes API allows, and when a long verb requests the next token. */
const lifetimeSeconds = 600;
const maxAgeMs = 300_000;

export class ServiceAccountToken implements TokenSource {
  readonly #kubernetes: Pick<KubernetesClient, 'create'>;
  readonly #path: string;
  #latest: { readonly token: Promise<string>; readonly requestedAt: number } | undefined;

  /**
   * @param account NAME of the namespace, or NAMESPACE/NAME
   * @throws CliError for another form
   */
  constructor(kubernetes: Pick<KubernetesClient, 'create'>, account: string, namespace: string) {
    const [, ofNamespace = namespace, name] = /^(?:([a-z0-9-]{1,63})\/)?([a-z0-9.-]{1,253})$/.exec(account) ?? [];
    if (name === undefined)
      throw new CliError('usage', `--service-account ${account}: write NAME, or NAMESPACE/NAME of another namespace`);
    this.#kubernetes = kubernetes;
    this.#path = `/api/v1/namespaces/${ofNamespace}/serviceaccounts/${name}/token`;
  }

  /** @throws CliError when the user may not create tokens of the ServiceAccount, and when there is none */
  read(): Promise<string> {
    const now = performance.now();
    if (!this.#latest || now - this.#latest.requestedAt > maxAgeMs)
      this.#latest = { token: this.#request(), requestedAt: now };
    return this.#latest.token;
  }

  async #request(): Promise<string> {
    const spec = { audiences: [audience], expirationSeconds: lifetimeSeconds };
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
    const reply = await this.#kubernetes.create(this.#path, request);
    return asText(asRecord(reply['status'])['token']);
  }
}
