/** Converts the API server's review of a token to a Kubernetes user. Pure. */
import { IpledgerError } from '../../../lib/errors.ts';
import { asRecord, asText, asTexts } from '../../../lib/kubernetes/untyped-json.ts';
import { kubernetesIdentity, type KubernetesUser } from '../../../lib/tls/kubernetes-user.ts';
import { serviceAccountUser, tokenAudience } from './agent-token.ts';

export interface ExpectedUser {
  /** Whether the review requested the ledger's own audience, and not that of the API server. */
  readonly isForLedger: boolean;
  /** "namespace/name" of the agents' ServiceAccount, which is never a user. */
  readonly agentAccount?: string | undefined;
}

/**
 * Returns the user of the token.
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
