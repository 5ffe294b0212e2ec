import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { agentOf } from './agent-token.ts';

const account = 'kube-system/ipledger-node-agent';
const extra = {
  'authentication.kubernetes.io/node-name': ['node-1'],
  'authentication.kubernetes.io/node-uid': ['uid-of-node-1'],
  'authentication.kubernetes.io/pod-name': ['agent-x'],
  'authentication.kubernetes.io/pod-uid': ['uid-of-agent-x'],
};
const user = { username: 'system:serviceaccount:kube-system:ipledger-node-agent', extra };
const status = { authenticated: true, audiences: ['ipledger'], user };

/** The reason why a review is rejected. */
function rejectionOf(review: unknown): string {
  try {
    return `accepted as ${agentOf(review, account).uri}`;
  } catch (error) {
    if (!(error instanceof IpledgerError) || error.code !== 'UNAUTHENTICATED') throw error;
    return error.message;
  }
}
const withExtra = (changes: object) => ({ status: { ...status, user: { ...user, extra: { ...extra, ...changes } } } });

describe('The identity of a reviewed token', () => {
  it('the identity of a token is the agent of the node that the API server names', () => {
    expect(agentOf({ status }, account)).to.deep.equal({
      kind: 'agent',
      name: 'node-1',
      uri: 'ipledger://agent/node-1',
    });
  });

  for (const [what, review, reason] of [
    ['an invalid token', { status: { authenticated: false, error: 'token expired' } }, 'token expired'],
    ['an answer without a status', {}, 'the API server does not accept it'],
    ['an answer whose `authenticated` is a text', { status: { ...status, authenticated: 'true' } }, 'not accept it'],
    ['a token of another audience', { status: { ...status, audiences: ['vault'] } }, 'its audience is not ipledger'],
    ['an answer of an API server that ignores audiences', { status: { ...status, audiences: [] } }, 'its audience'],
    [
      'a ServiceAccount of that name in another namespace',
      { status: { ...status, user: { ...user, username: 'system:serviceaccount:tenant:ipledger-node-agent' } } },
      'it is of system:serviceaccount:tenant:ipledger-node-agent, and not of the ServiceAccount kube-system/',
    ],
    [
      'a user whose name contains that of the ServiceAccount',
      { status: { ...status, user: { ...user, username: `x:${user.username}` } } },
      'and not of the ServiceAccount',
    ],
    [
      'a node',
      { status: { ...status, user: { ...user, username: 'system:node:node-1' } } },
      'it is of system:node:node-1',
    ],
    [
      'a token that is bound to a Node and to no Pod',
      withExtra({
        'authentication.kubernetes.io/pod-name': undefined,
        'authentication.kubernetes.io/pod-uid': undefined,
      }),
      'it is bound to no Pod',
    ],
    [
      'a Pod without a node',
      withExtra({ 'authentication.kubernetes.io/node-name': undefined }),
      'the API server names no node',
    ],
    ['two nodes', withExtra({ 'authentication.kubernetes.io/node-name': ['node-1', 'node-2'] }), 'names no node'],
    ['a node whose name is another URI', withExtra({ 'authentication.kubernetes.io/node-name': ['a/b'] }), 'no node'],
  ] as const)
    it(`a token has no identity for ${what}`, () => {
      expect(rejectionOf(review)).to.contain(reason);
    });
});
