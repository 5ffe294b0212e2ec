import { expect } from 'chai';
import { EtcdInvalidAuthTokenError, type Etcd3, GRPCUnavailableError } from 'etcd3';
import { callKv, type KvCall } from './etcd-call.ts';

describe('callKv', () => {
  /**
   * Calls an etcd with two members, each attempt of which fails with the next error, and then
   * succeeds.
   */
  async function call(method: KvCall<unknown, unknown, string>['method'], errors: readonly Error[]) {
    const failures = [...errors];
    const done = { attempts: 0, newTokens: 0 };
    const pool = {
      hosts: ['one', 'two'],
      shuffledHosts: () => ['one', 'two'].values(),
      authenticator: { invalidateMetadata: () => done.newTokens++ },
      withConnection: () => {
        done.attempts++;
        const failure = failures.shift();
        return failure ? Promise.reject(failure) : Promise.resolve('reply');
      },
    };
    const kvCall = { method, encode: () => Buffer.alloc(0), decode: () => '' };
    const outcome = await callKv({ pool } as unknown as Etcd3, kvCall).catch((error: unknown) => error);
    return { outcome, ...done };
  }
  const unavailable = (count: number): Error[] =>
    Array.from({ length: count }, (_, index) => new GRPCUnavailableError(`no answer to attempt ${index + 1}`));
  const badToken = (): Error => new EtcdInvalidAuthTokenError('invalid auth token');

  it('callKv sends a read twice to each member that cannot be reached', async () => {
    expect(await call('Range', unavailable(3))).to.deep.equal({ outcome: 'reply', attempts: 4, newTokens: 0 });
    const errors = unavailable(5);
    expect(await call('Range', errors)).to.deep.equal({ outcome: errors[3], attempts: 4, newTokens: 0 });
  });

  it('callKv sends a transaction once, because a member that cannot be reached may have executed it', async () => {
    const errors = unavailable(2);
    expect(await call('Txn', errors)).to.deep.equal({ outcome: errors[0], attempts: 1, newTokens: 0 });
  });

  it('callKv does not repeat a read that etcd refuses', async () => {
    const refusal = new Error('permission denied');
    expect(await call('Range', [refusal])).to.deep.equal({ outcome: refusal, attempts: 1, newTokens: 0 });
  });

  it('callKv sends a read and a transaction again with a new token if etcd rejects the token, once', async () => {
    for (const method of ['Range', 'Txn'] as const) {
      expect(await call(method, [badToken()])).to.deep.equal({ outcome: 'reply', attempts: 2, newTokens: 1 });
      const errors = [badToken(), badToken()];
      expect(await call(method, errors)).to.deep.equal({ outcome: errors[1], attempts: 2, newTokens: 1 });
    }
  });
});
