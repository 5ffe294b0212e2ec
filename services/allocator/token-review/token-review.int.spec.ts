import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import type { Api, ApiRequest } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { Tls } from '../../../lib/tls/credentials.ts';
import { failureOf, never, silentLog } from '../../../ledger/log/testing/running-writer.ts';
import { createAccessReview, createReview, createUserReview } from './api-reviews.ts';
import { openTokenReview, type TokenReviewSettings } from './token-review.ts';

const account = 'kube-system/ipledger-node-agent';

describe('Token review', () => {
  describe('at the start', () => {
    const someTls = {} as NonNullable<Tls>;
    const open = (settings: TokenReviewSettings, tls: Tls, env = {}) =>
      openTokenReview({ settings, env, tls, onReviewed: () => undefined, log: silentLog, signal: never });
    const failure = (opening: Promise<unknown>): Promise<string> =>
      opening.then(
        () => 'started',
        (error: unknown) => String(error),
      );

    it('token review is off without its flag, or if its variable is not 1', async () => {
      expect(await open({}, someTls)).to.equal(undefined);
      expect(await open({ agentServiceAccount: account }, someTls, { IPLEDGER_TOKEN_REVIEW: '0' })).to.equal(undefined);
    });

    it('the start fails without a ServiceAccount, instead of accepting all of them', async () => {
      expect(await failure(open({ tokenReview: true }, someTls))).to.contain(
        '--token-review needs --agent-service-account',
      );
      expect(await failure(open({}, someTls, { IPLEDGER_TOKEN_REVIEW: '1' }))).to.contain('--agent-service-account');
    });

    it('the start fails without TLS, so that agents never send tokens in plaintext', async () => {
      const opening = open({ tokenReview: true, agentServiceAccount: account }, undefined);
      expect(await failure(opening)).to.contain('--token-review needs TLS');
      expect(await failure(open({ kubernetesUsers: true }, undefined))).to.contain('--kubernetes-users needs TLS');
      expect(await failure(open({}, undefined, { IPLEDGER_KUBERNETES_USERS: '1' }))).to.contain('needs TLS');
    });

    it('the start fails for a Kubernetes API over plaintext, which would reveal the tokens', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'ipledger-token-review-'));
      const file = join(folder, 'kubeconfig');
      const named = { name: 'x', context: { cluster: 'x', user: 'x' } };
      const config = {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'x', cluster: { server: 'http://127.0.0.1:1' } }],
        users: [{ name: 'x', user: {} }],
        contexts: [named],
        'current-context': 'x',
      };
      writeFileSync(file, JSON.stringify(config));
      const before = process.env['KUBECONFIG'];
      process.env['KUBECONFIG'] = file;
      try {
        expect(await failure(open({ tokenReview: true, agentServiceAccount: account }, someTls))).to.contain(
          'is plaintext',
        );
      } finally {
        if (before === undefined) delete process.env['KUBECONFIG'];
        else process.env['KUBECONFIG'] = before;
        rmSync(folder, { recursive: true });
      }
    });
  });

  describe('of a token', () => {
    const logged: string[] = [];
    const log = { warn: (...line: unknown[]) => logged.push(JSON.stringify(line)) } as unknown as Logger;
    const reviewBy = (answer: (request: ApiRequest) => Promise<unknown>) => {
      const api = { server: 'https://api', request: answer } as unknown as Api;
      return createReview({ api, account, log, signal: never });
    };

    it('A token review requests the audience of the ledger', async () => {
      let sent: unknown;
      const review = reviewBy((request) => {
        sent = request.body;
        return Promise.resolve({ status: { authenticated: false } });
      });
      expect((await failureOf(review('a.b.c'))).code).to.equal('UNAUTHENTICATED');
      expect(sent).to.deep.equal({
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenReview',
        spec: { token: 'a.b.c', audiences: ['ipledger'] },
      });
    });

    it('a review fails with UNAVAILABLE when the API server is down, overloaded or denies it, and neither error nor log contains the token', async () => {
      for (const status of [0, 401, 403, 429, 500]) {
        const review = reviewBy(() => Promise.reject(new ApiError(status, `${status} no`)));
        const error = await failureOf(review('secret.token.here'));
        expect(error).to.be.instanceOf(IpledgerError).and.to.include({ code: 'UNAVAILABLE', kind: 'transient' });
        expect(error.message).not.to.contain('secret');
      }
      expect(logged).to.have.length(5);
      expect(logged.join()).to.contain('403 no').and.not.to.contain('secret');
    });

    it('A token review logs once a minute why tokens cannot be verified', async () => {
      logged.length = 0;
      const review = reviewBy(() => Promise.reject(new ApiError(403, '403 no')));
      for (let count = 0; count < 5; count++) await failureOf(review('a.b.c'));
      expect(logged).to.have.length(1);
    });
  });

  describe('of a user', () => {
    const sent: unknown[] = [];
    const partsOf = (answer: unknown) => {
      sent.length = 0;
      const request = ({ path, body }: ApiRequest) => {
        sent.push([path, (body as { spec: unknown }).spec]);
        return Promise.resolve(answer);
      };
      return { api: { server: 'https://api', request } as unknown as Api, account, log: silentLog, signal: never };
    };
    const user = { username: 'alice', uid: 'u', groups: ['sre'], extra: { k: ['v'] } };

    it("a user's token is reviewed for the audience of the API server, or of the ledger if the token names that", async () => {
      const review = createUserReview(partsOf({ status: { authenticated: true, audiences: ['ipledger'], user } }));
      const own = `e30.${Buffer.from('{"aud":["ipledger"]}').toString('base64url')}.c`;
      expect((await review('opaque')).uri).to.equal('kubernetes:alice');
      expect((await review(own)).groups).to.deep.equal(['sre']);
      const path = '/apis/authentication.k8s.io/v1/tokenreviews';
      expect(sent).to.deep.equal([
        [path, { token: 'opaque' }],
        [path, { token: own, audiences: ['ipledger'] }],
      ]);
    });

    it('an access review contains all fields that the API server returned, and an explicit denial counts', async () => {
      const identified = await createUserReview(partsOf({ status: { authenticated: true, user } }))('opaque');
      for (const [status, isAllowed] of [
        [{ allowed: true }, true],
        [{ allowed: true, denied: true }, false],
        [{ allowed: false }, false],
        [{ allowed: 'true' }, false],
        [{}, false],
      ] as const) {
        const review = createAccessReview(partsOf({ status }));
        expect(await review(identified, { resource: 'subnets', verb: 'list' })).to.include({ isAllowed });
      }
      const resourceAttributes = { group: 'ipledger.io', resource: 'subnets', verb: 'list' };
      const { username, ...rest } = user;
      const spec = { user: username, ...rest, resourceAttributes };
      expect(sent).to.deep.equal([['/apis/authorization.k8s.io/v1/subjectaccessreviews', spec]]);
    });
  });
});
