/** The flags of token review, and the authentication that they enable. */
import { InvalidArgumentError, Option } from 'commander';
import { IpledgerError } from '../../../lib/errors.ts';
import { connectDefaultApi } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { Tls } from '../../../lib/tls/credentials.ts';
import { apiGroup, kubernetesPermissions } from '../../../lib/grpc/server/kubernetes-permissions.ts';
import type { TokenAccess } from '../../../lib/grpc/server/authorization.ts';
import { AccessAuthorizer } from './access-authorizer.ts';
import { serviceAccountUser, tokenAudience } from './agent-token.ts';
import { createAccessReview, createReview, createUserReview, type ReviewParts } from './api-reviews.ts';
import { type ReviewOutcome, TokenAuthenticator } from './token-authenticator.ts';
import { readUnverifiedToken } from './unverified-token.ts';

/** The most cached users. A cached user takes up to 64 KiB. */
const maxUsers = 1_000;

export interface TokenReviewSettings {
  readonly tokenReview?: boolean;
  readonly kubernetesUsers?: boolean;
  /** "namespace/name" */
  readonly agentServiceAccount?: string;
}

/** The flags. `isOn` reads the variables, because commander would take any value as true. */
export const tokenReviewOptions = (): Option[] => [
  new Option(
    '--token-review',
    'accept node agents by their ServiceAccount tokens, which the Kubernetes API verifies (env: IPLEDGER_TOKEN_REVIEW=1)',
  ),
  new Option('--agent-service-account <namespace/name>', 'ServiceAccount of the node agents, for --token-review')
    .env('IPLEDGER_AGENT_SERVICE_ACCOUNT')
    .argParser(parseServiceAccount),
  new Option(
    '--kubernetes-users',
    'accept people by their Kubernetes tokens: the Kubernetes API verifies them, and decides what they may call (env: IPLEDGER_KUBERNETES_USERS=1)',
  ),
];

function parseServiceAccount(text: string): string {
  if (/^[a-z0-9-]{1,63}\/[a-z0-9.-]{1,253}$/.test(text)) return text;
  throw new InvalidArgumentError('Expected namespace/name.');
}

export interface OpenTokenReviewOptions {
  readonly settings: TokenReviewSettings;
  readonly env: NodeJS.ProcessEnv;
  readonly tls: Tls;
  readonly onReviewed: (outcome: ReviewOutcome) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const isOn = (flag: boolean | undefined, variable: string | undefined): boolean => flag === true || variable === '1';

/**
 * Connects to the cluster of KUBECONFIG, or of this Pod. Resolves to undefined if the server
 * accepts only certificates.
 * @throws Error for settings that are incomplete, or would send a token in plaintext
 */
export async function openTokenReview(options: OpenTokenReviewOptions): Promise<TokenAccess | undefined> {
  const { settings, env, tls, onReviewed, log, signal } = options;
  const acceptsAgents = isOn(settings.tokenReview, env['IPLEDGER_TOKEN_REVIEW']);
  const acceptsUsers = isOn(settings.kubernetesUsers, env['IPLEDGER_KUBERNETES_USERS']);
  if (!acceptsAgents && !acceptsUsers) return undefined;
  const flag = acceptsAgents ? '--token-review' : '--kubernetes-users';
  const { agentServiceAccount: account } = settings;
  if (acceptsAgents && account === undefined)
    throw new Error('--token-review needs --agent-service-account: set it to namespace/name of the node agents');
  if (!tls)
    throw new Error(
      `${flag} needs TLS, because tokens are never sent in plaintext: set IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY`,
    );
  const api = await connectDefaultApi();
  if (!api.server.startsWith('https://'))
    throw new Error(`${flag}: the Kubernetes API at ${api.server} is plaintext: set KUBECONFIG to one with https`);
  const parts: ReviewParts = { api, account, log, signal };
  if (acceptsAgents)
    log.info(
      { api: api.server, account, audience: tokenAudience },
      'node agents may identify by ServiceAccount tokens',
    );
  if (acceptsUsers) log.info({ api: api.server, apiGroup }, 'people may identify by Kubernetes tokens');
  return createTokenAccess(parts, { acceptsAgents, acceptsUsers, onReviewed });
}

interface AcceptedClients {
  readonly acceptsAgents: boolean;
  readonly acceptsUsers: boolean;
  readonly onReviewed: (outcome: ReviewOutcome) => void;
}

/** Gives agents and users separate caches and limits, so that users cannot delay agents. */
export function createTokenAccess(parts: ReviewParts, accepted: AcceptedClients): TokenAccess {
  const { acceptsAgents, acceptsUsers, onReviewed } = accepted;
  const agents = new TokenAuthenticator({ review: createReview(parts), onReviewed });
  if (!acceptsUsers) return { authenticate: (token, connection) => agents.authenticate(token, connection) };
  const users = new TokenAuthenticator({ review: createUserReview(parts), maxEntries: maxUsers, onReviewed });
  const authorizer = new AccessAuthorizer(createAccessReview(parts));
  const agent = parts.account === undefined ? undefined : serviceAccountUser(parts.account);
  return {
    authenticate(token, connection) {
      const { subject, audiences } = readUnverifiedToken(token);
      const isAgent = acceptsAgents && subject === agent && audiences.includes(tokenAudience);
      return (isAgent ? agents : users).authenticate(token, connection);
    },
    async authorize(user, path) {
      const permission = kubernetesPermissions.get(path);
      if (!permission) throw new IpledgerError('PERMISSION_DENIED', `${user.uri} may not call ${path}: no user may`);
      await authorizer.authorize(user, permission);
    },
  };
}
