/**
 * Converts the API server's review of a token to the identity of a node agent.
 *
 * The token must be for this ledger (its audience), belong to the agents' ServiceAccount, and be
 * bound to a Pod. The API server names the node of that Pod. Tokens of Secrets, and tokens bound to
 * nothing or only to a Node, name no Pod and are rejected.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { asRecord, asText, asTexts } from '../../../lib/kubernetes/untyped-json.ts';
import { type Identity, parseIdentity } from '../../../lib/tls/identity.ts';

/** The audience of the agents' tokens. The Kubernetes API does not accept it. */
export const tokenAudience = 'ipledger';

/** The Kubernetes user name of a ServiceAccount. @param account "namespace/name" */
export const serviceAccountUser = (account: string): string => `system:serviceaccount:${account.replace('/', ':')}`;

const extraPrefix = 'authentication.kubernetes.io/';

/**
 * Returns the agent of the token's node.
 * @param review the TokenReview that the API server returned
 * @param account "namespace/name" of the agents' ServiceAccount
 * @throws IpledgerError UNAUTHENTICATED with the reason
 */
export function agentOf(review: unknown, account: string): Identity {
  const status = asRecord(asRecord(review)['status']);
  if (status['authenticated'] !== true)
    throw rejected(shorten(asText(status['error'])) || 'the API server does not accept it');
  // If the answer has no audiences, the API server verified the token for its own audience.
  if (!asTexts(status['audiences']).includes(tokenAudience)) throw rejected(`its audience is not ${tokenAudience}`);
  const user = asRecord(status['user']);
  const username = asText(user['username']);
  if (username !== serviceAccountUser(account))
    throw rejected(`it is of ${shorten(username) || 'no user'}, and not of the ServiceAccount ${account}`);
  const extra = asRecord(user['extra']);
  if (!onlyValue(extra, 'pod-name') || !onlyValue(extra, 'pod-uid'))
    throw rejected('it is bound to no Pod: use a projected serviceAccountToken');
  const node = onlyValue(extra, 'node-name');
  const identity = node === undefined ? undefined : parseIdentity(`ipledger://agent/${node}`);
  if (identity) return identity;
  throw rejected('the API server names no node for it: Kubernetes 1.33 or later does');
}

function onlyValue(extra: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const values = asTexts(extra[extraPrefix + key]);
  return values.length === 1 ? values[0] : undefined;
}

/** Limits a message, because rejections are cached. */
const shorten = (text: string): string => text.slice(0, 500);

const rejected = (reason: string): IpledgerError =>
  new IpledgerError('UNAUTHENTICATED', `the token is rejected: ${reason}`);
