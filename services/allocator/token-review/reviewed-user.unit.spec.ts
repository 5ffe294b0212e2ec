import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { userOf } from './api-reviews.ts';
import { readUnverifiedToken } from './unverified-token.ts';

const agentAccount = 'kube-system/ipledger-node-agent';
const user = {
  username: 'alice@example.org',
  uid: 'u-1',
  groups: ['sre', 'system:authenticated'],
  extra: { k: ['v'] },
};
const review = (changes: object = {}, status: object = {}): unknown => ({
  status: { authenticated: true, user: { ...user, ...changes }, ...status },
});

/** The reason why a review is rejected. */
function rejectionOf(answer: unknown, isForLedger = false): string {
  try {
    return `accepted as ${userOf(answer, { isForLedger, agentAccount }).uri}`;
  } catch (error) {
    if (!(error instanceof IpledgerError) || error.code !== 'UNAUTHENTICATED') throw error;
    return error.message;
  }
}

describe('The user of a reviewed token', () => {
  it('the user of a token is the user that the API server names, with its groups', () => {
    expect(userOf(review(), { isForLedger: false, agentAccount })).to.deep.equal({
      kind: 'kubernetes-user',
      name: 'alice@example.org',
      uri: 'kubernetes:alice@example.org',
      ...user,
    });
  });

  for (const [what, answer, reason] of [
    ['an invalid token', { status: { authenticated: false, error: 'token expired' } }, 'token expired'],
    ['an answer without a status', {}, 'the API server does not accept it'],
    ['an answer whose `authenticated` is a text', review({}, { authenticated: 'true' }), 'does not accept it'],
    ['a user without a name', review({ username: '' }), 'its user has no name'],
    ['a user with a very long name', review({ username: 'a'.repeat(600) }), 'too long'],
    [
      "the agents' ServiceAccount, which is never a person",
      review({ username: 'system:serviceaccount:kube-system:ipledger-node-agent' }),
      "it is of the node agents' ServiceAccount",
    ],
  ] as const)
    it(`The user of a reviewed token does not exist for ${what}`, () => {
      expect(rejectionOf(answer)).to.contain(reason);
    });

  it('a token that claims the audience of the ledger, but does not have it, is rejected', () => {
    expect(rejectionOf(review(), true)).to.contain('its audience is not ipledger');
    expect(rejectionOf(review({}, { audiences: ['ipledger'] }), true)).to.contain('accepted as kubernetes:alice');
  });
});

describe('An unverified token', () => {
  const token = (payload: unknown): string => `e30.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.sig`;

  it('readUnverifiedToken returns the subject and the audiences of a token', () => {
    expect(readUnverifiedToken(token({ sub: 'a', aud: ['x', 'y'] }))).to.deep.equal({
      subject: 'a',
      audiences: ['x', 'y'],
    });
    expect(readUnverifiedToken(token({ sub: 'a', aud: 'x' })).audiences).to.deep.equal(['x']);
  });

  it('readUnverifiedToken returns nothing for a token of another form, or with fields of other types', () => {
    const none = { subject: '', audiences: [] };
    for (const text of ['sha256~abc', 'a.b.c', '', token(null), token([1]), token({ sub: 1, aud: { a: 1 } }), token(7)])
      expect(readUnverifiedToken(text), text).to.deep.equal(none);
  });
});
