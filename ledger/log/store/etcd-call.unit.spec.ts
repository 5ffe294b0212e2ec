import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { EtcdInvalidAuthTokenError, type Etcd3, GRPCUnavailableError } from 'etcd3';
import { etcdMessage } from '../testing/etcd-messages.ts';
import { fakeEtcd, type UnaryCall } from '../testing/fake-etcd.ts';
import { callKv, callTransaction, type KvCall } from './etcd-call.ts';

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

describe('callTransaction', () => {
  const txnResponse = etcdMessage('TxnResponse');
  const encoded = (message: object): Buffer =>
    Buffer.from(txnResponse.encode(txnResponse.fromObject(message)).finish());

  interface Sent {
    readonly path: string;
    readonly message: Buffer;
    readonly deadline: number;
  }

  /** Sends a transaction to an etcd that replies with these bytes, or with an error. */
  async function send(reply: Buffer | undefined, error: Error | null = null) {
    const sent: Sent[] = [];
    const answer = (...[path, serialize, deserialize, message, , { deadline }, onReply]: UnaryCall): void => {
      sent.push({ path, message: serialize(message), deadline: deadline - Date.now() });
      onReply(error, reply && deserialize(reply));
    };
    const responseDeserialize = (bytes: Buffer): unknown => txnResponse.toObject(txnResponse.decode(bytes));
    const etcd = fakeEtcd({ Txn: { responseDeserialize } }, answer);
    const request = Buffer.from('request');
    const call = callTransaction(etcd, request).catch((thrown: unknown) => thrown);
    const outcome: unknown = await Promise.race([call, turn('no outcome')]);
    return { outcome, sent };
  }
  const header = { cluster_id: '7', revision: '300' };
  const responses = [{ response_range: { kvs: [] } }];

  it('callTransaction sends the request once as it is, and waits five seconds for the reply', async () => {
    const now = Date.now;
    Date.now = () => 1_000_000;
    try {
      const { sent } = await send(encoded({ header, succeeded: true }));
      expect(sent).to.deep.equal([{ path: '/etcdserverpb.KV/Txn', message: Buffer.from('request'), deadline: 5_000 }]);
    } finally {
      Date.now = now;
    }
  });

  it('callTransaction returns the revision of a transaction whose compares passed, without the replies to its puts', async () => {
    const message = encoded({ header, succeeded: true });
    for (const reply of [
      message,
      encoded({ header, succeeded: true, responses }),
      Buffer.concat([message, Buffer.of(26, 99)]),
    ])
      expect((await send(reply)).outcome).to.deep.equal({ succeeded: true, revision: 300n });
    const unknownField = Buffer.of((9 << 3) | 2, 2, 2 << 3, 0);
    const { outcome } = await send(Buffer.concat([unknownField, message]));
    expect(outcome, 'a field of a later version').to.deep.equal({ succeeded: true, revision: 300n });
  });

  it('callTransaction returns the replies to the reads of a transaction with a compare that failed', async () => {
    for (const succeeded of [{}, { succeeded: false }]) {
      const { outcome } = await send(encoded({ header, ...succeeded, responses }));
      expect(outcome).to.have.property('succeeded', false);
      expect(outcome).to.have.nested.property('reply.responses').with.length(1);
    }
    const unknownField = Buffer.of((9 << 3) | 2, 2, 2 << 3, 1);
    const later = await send(Buffer.concat([unknownField, encoded({ header })]));
    expect(later.outcome, 'a field of a later version').to.have.property('succeeded', false);
    const zero = Buffer.concat([encoded({ header }), Buffer.of(2 << 3, 0)]);
    expect((await send(zero)).outcome, 'a flag that is sent as false').to.have.property('succeeded', false);
  });

  it('callTransaction fails with the error of etcd, or without a reply', async () => {
    const refused = new Error('permission denied');
    expect((await send(undefined, refused)).outcome).to.have.property('message', 'permission denied');
    expect((await send(encoded({ header }), refused)).outcome).to.have.property('message', 'permission denied');
    expect((await send(undefined)).outcome).to.have.property('message', 'etcd sent no reply');
  });
});
