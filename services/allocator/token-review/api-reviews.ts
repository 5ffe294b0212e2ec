/** Reviews tokens and permissions by the Kubernetes API. No error contains a token. */
import { IpledgerError, errorMessage } from '../../../lib/errors.ts';
import { apiGroup } from '../../../lib/grpc/server/kubernetes-permissions.ts';
import type { Api } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { asRecord, asText, asTexts } from '../../../lib/kubernetes/untyped-json.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { type KubernetesUser, kubernetesIdentity } from '../../../lib/tls/kubernetes-user.ts';
import type { ReviewAccess } from './access-authorizer.ts';
import { agentOf, tokenAudience, serviceAccountUser } from './agent-token.ts';
import type { ReviewToken } from './token-authenticator.ts';
import { readUnverifiedToken } from './unverified-token.ts';

const timeoutMs = 3_000;
/** The limit of a review: a TokenReview repeats the token, and lists the groups of its user. */
const maxBytes = 65_536;
const logIntervalMs = 60_000;

export interface ReviewParts {
  readonly api: Api;
  /** The ServiceAccount of the agents. */
  readonly account: string | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Returns the function that reviews the token of an agent. */
export function createReview(parts: ReviewParts): ReviewToken {
  const send = tokenReviewSender(parts);
  return async (token) => agentOf(await send(token, [tokenAudience]), parts.account ?? '');
}

/** Returns the function that reviews a user's token for the Kubernetes API or for this ledger. */
export function createUserReview(parts: ReviewParts): ReviewToken<KubernetesUser> {
  const send = tokenReviewSender(parts);
  return async (token) => {
    const isForLedger = readUnverifiedToken(token).audiences.includes(tokenAudience);
    const review = await send(token, isForLedger ? [tokenAudience] : []);
    return userOf(review, { isForLedger, agentAccount: parts.account });
  };
}

function tokenReviewSender(parts: ReviewParts): (token: string, audiences: readonly string[]) => Promise<unknown> {
  const send = reviewSender(parts, {
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    warning: 'tokens cannot be verified: check the API server, and that this allocator may create tokenreviews',
    error:
      'the token was not verified, because the Kubernetes API did not review it: try again. The log of the allocator has the reason',
  });
  return (token, audiences) => {
    const spec = audiences.length > 0 ? { token, audiences } : { token };
    return send({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec });
  };
}

/** Returns the function that reviews a permission of a user. */
export function createAccessReview(parts: ReviewParts): ReviewAccess {
  const send = reviewSender(parts, {
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    warning:
      'permissions cannot be reviewed: check the API server, and that this allocator may create subjectaccessreviews',
    error:
      'the permission was not reviewed, because the Kubernetes API did not answer: try again. The log of the allocator has the reason',
  });
  return async ({ username, uid, groups, extra }, { resource, verb }) => {
    const resourceAttributes = { group: apiGroup, resource, verb };
    const spec = { user: username, uid, groups, extra, resourceAttributes };
    const review = await send({ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec });
    const status = asRecord(asRecord(review)['status']);
    // An explicit denial counts, even if the answer also allows the call.
    const isAllowed = status['allowed'] === true && status['denied'] !== true;
    const reason = asText(status['reason']) || asText(status['evaluationError']);
    return { isAllowed, reason: reason.slice(0, 300) };
  };
}

interface ReviewKind {
  readonly path: string;
  /** The messages for the log and for the caller. */
  readonly warning: string;
  readonly error: string;
}

/** @throws IpledgerError UNAVAILABLE from the returned function, which logs the reason */
function reviewSender(
  { api, log, signal }: ReviewParts,
  { path, warning, error: message }: ReviewKind,
): (body: object) => Promise<unknown> {
  let loggedAt = -Infinity;
  return async (body) => {
    try {
      return await api.request({ method: 'POST', path, body, maxBytes, timeoutMs, signal });
    } catch (error) {
      if (performance.now() - loggedAt > logIntervalMs) {
        loggedAt = performance.now();
        log.warn({ reason: errorMessage(error), api: api.server }, warning);
      }
      throw new IpledgerError('UNAVAILABLE', message);
    }
  };
}

interface ExpectedUser {
  /** Whether the review requested the ledger's own audience instead of the API server's. */
  readonly isForLedger: boolean;
  /** "namespace/name" of the agents' ServiceAccount, which is never accepted as a user. */
  readonly agentAccount?: string | undefined;
}

/**
 * Converts the API server's review of a token to the user of the token.
 * @param review the TokenReview that the API server returned
 * @throws IpledgerError UNAUTHENTICATED with the reason
 */
export function userOf(review: unknown, { isForLedger, agentAccount }: ExpectedUser): KubernetesUser {
  const status = asRecord(asRecord(review)['status']);
  if (status['authenticated'] !== true)
    throw rejected(
      `${asText(status['error']).slice(0, 500) || 'the API server does not accept it'}. Check it with kubectl auth whoami; a token for a proxy in front of the API server is not verifiable`,
    );
  if (isForLedger && !asTexts(status['audiences']).includes(tokenAudience))
    throw rejected(`its audience is not ${tokenAudience}`);
  const user = asRecord(status['user']);
  const username = asText(user['username']);
  if (agentAccount !== undefined && username === serviceAccountUser(agentAccount))
    throw rejected(
      `it is of the node agents' ServiceAccount, and not for this ledger: agents use the audience ${tokenAudience}`,
    );
  const identity = kubernetesIdentity(username);
  if (!identity) throw rejected('its user has no name, or one that is too long for the ledger');
  const extra = Object.entries(asRecord(user['extra'])).map(([key, values]) => [key, asTexts(values)] as const);
  return {
    ...identity,
    kind: 'kubernetes-user',
    username,
    uid: asText(user['uid']),
    groups: asTexts(user['groups']),
    extra: Object.fromEntries(extra),
  };
}

const rejected = (reason: string): IpledgerError =>
  new IpledgerError('UNAUTHENTICATED', `the token is rejected: ${reason}`);
