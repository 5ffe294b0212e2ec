import { syncBuiltinESMExports } from 'node:module';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import timers from 'node:timers/promises';
import { expect } from 'chai';
import { type Etcd3, EtcdLeaseInvalidError } from 'etcd3';
import { never, silentLog } from '../testing/running-writer.ts';
import { CallOnce } from './connection-pool.ts';
import { acquireLease, type HeldLease } from './etcd-lease.ts';

const { setTimeout: sleep } = timers;
const [now, wall] = [performance.now.bind(performance), Date.now];

type Revoke = (lease: { readonly ID: string }, options: { readonly deadline: number }) => Promise<void>;
/** What a member answers to a renewal: the seconds of the lease, or an error. */
type Answer = string | Error;

describe('The renewal of a lease', () => {
  let time: number;
  let pauses: number[];
  let renewals: { readonly host: string; readonly at: number; readonly deadline: number }[];
  let open: PassThrough[];
  let newTokens: number;
  beforeEach(() => {
    [time, pauses, renewals, open, newTokens] = [0, [], [], [], 0];
    performance.now = () => time;
    Date.now = () => 1_000_000 + time;
    // A pause takes no time, and moves the clock
    Object.assign(timers, {
      setTimeout: async (ms: number, _value: unknown, { signal }: { readonly signal: AbortSignal }) => {
        await turn();
        signal.throwIfAborted();
        pauses.push(ms);
        time += ms;
      },
    });
    syncBuiltinESMExports();
  });
  afterEach(() => {
    Object.assign(timers, { setTimeout: sleep });
    syncBuiltinESMExports();
    [performance.now, Date.now] = [now, wall];
  });

  /** Acquires a lease of five seconds that is renewed each second, at members with these names. */
  function acquire(
    answer: (host: string, renewal: number) => Answer,
    {
      hosts = ['one'],
      revoke = () => Promise.resolve(),
      signal = never,
    }: { hosts?: string[]; revoke?: Revoke; signal?: AbortSignal } = {},
  ): Promise<HeldLease> {
    const hostOf = (name: string): unknown => {
      const leaseKeepAlive = (_metadata: unknown, { deadline }: { readonly deadline: number }): PassThrough => {
        renewals.push({ host: name, at: time, deadline: deadline - Date.now() });
        const [number, requests] = [renewals.length, [] as { ID: string }[]];
        const stream = new PassThrough({
          objectMode: true,
          transform: (each, _, done) => done(void requests.push(each as { ID: string })),
        });
        open.push(stream);
        setImmediate(() => {
          const sent = requests.map(({ ID }) => ID).join() === '7' ? answer(name, number) : new Error('no request');
          if (sent instanceof Error) stream.destroy(sent);
          else stream.push({ TTL: sent });
        });
        return stream;
      };
      return { faultHandling: new CallOnce(), getServiceClient: () => ({ leaseKeepAlive }) };
    };
    const members = hosts.map(hostOf);
    const client = {
      leaseClient: { leaseGrant: () => Promise.resolve({ ID: '7' }), leaseRevoke: revoke },
      pool: {
        authenticator: { getMetadata: () => Promise.resolve({}), invalidateMetadata: () => newTokens++ },
        *shuffledHosts() {
          for (;;) yield* members;
        },
      },
    };
    const options = { ttlSeconds: 5, renewMs: 1_000, name: 'a lease', signal, log: silentLog };
    return acquireLease(client as unknown as Etcd3, options);
  }

  /** Resolves at the end of a lease. */
  const ended = async ({ signal }: HeldLease): Promise<void> => {
    for (let turns = 0; turns < 1_000 && !signal.aborted; turns++) await turn();
    expect(signal.aborted).to.equal(true);
  };

  it('The renewal of a lease is repeated each second, after a failure each 300 ms, until half a second before its end', async () => {
    await ended(await acquire((_host, number) => (number <= 3 ? '5' : new Error('no answer'))));
    expect(pauses).to.deep.equal([1_000, 1_000, 1_000, 1_000, ...Array<number>(11).fill(300), 200]);
    expect(time).to.equal(3_000 + 4_500);
    expect(renewals).to.have.length(15);
    expect(open.every((stream) => stream.writableEnded || stream.destroyed)).to.equal(true);
  });

  it('The renewal of a lease waits for its answer for 1.5 seconds, and not beyond the end of the lease', async () => {
    await ended(await acquire(() => new Error('no answer')));
    const deadlines = renewals.map(({ at, deadline }) => [at, deadline]);
    expect(deadlines.slice(0, 2)).to.deep.equal([
      [1_000, 1_500],
      [1_300, 1_500],
    ]);
    expect(deadlines.slice(-2)).to.deep.equal([
      [4_000, 500],
      [4_300, 200],
    ]);
  });

  it('The renewal of a lease that has a success after failures is repeated each second again', async () => {
    const lease = await acquire((_host, number) => (number === 1 ? new Error('no answer') : '5'));
    for (let turns = 0; turns < 1_000 && pauses.length < 4; turns++) await turn();
    await lease.revoke();
    expect(pauses.slice(0, 4)).to.deep.equal([1_000, 300, 1_000, 1_000]);
  });

  it('The renewal of a lease that etcd no longer has ends it immediately', async () => {
    await ended(await acquire(() => '0'));
    expect(pauses).to.deep.equal([1_000]);
  });

  it('The renewal of a lease ends with the signal of its holder', async () => {
    const stopping = new AbortController();
    const lease = await acquire(() => '5', { signal: stopping.signal });
    stopping.abort();
    await ended(lease);
    for (let turns = 0; turns < 10; turns++) await turn();
    expect(renewals).to.deep.equal([]);
  });

  it('The renewal of a lease asks two members, and needs the answer of one', async () => {
    const answer = (host: string): Answer => (host === 'one' ? new Error('no answer') : '5');
    const lease = await acquire(answer, { hosts: ['one', 'two', 'three'] });
    for (let turns = 0; turns < 1_000 && pauses.length < 2; turns++) await turn();
    await lease.revoke();
    expect(renewals.slice(0, 2).map(({ host }) => host)).to.deep.equal(['one', 'two']);
    expect(pauses.slice(0, 2)).to.deep.equal([1_000, 1_000]);
  });

  it('The renewal of a lease requests a new token after etcd has rejected the token, and only then', async () => {
    const rejected = Object.assign(new Error('16 UNAUTHENTICATED: etcdserver: invalid auth token'), { code: 16 });
    await ended(await acquire((_host, number) => (number === 1 ? rejected : new Error('no answer'))));
    expect(newTokens).to.equal(1);
  });

  it('Revoking a lease waits for etcd for a second', async () => {
    const revoked: unknown[] = [];
    const revoke: Revoke = async ({ ID }, { deadline }) => void revoked.push([ID, deadline - Date.now()]);
    await (await acquire(() => '5', { revoke })).revoke();
    expect(revoked).to.deep.equal([['7', 1_000]]);
  });

  it('Revoking a lease ends it, also if it has expired, and reports any other failure', async () => {
    for (const [error, message] of [
      [new EtcdLeaseInvalidError('7'), undefined],
      [new Error('etcd does not reply'), 'etcd does not reply'],
    ] as const) {
      const lease = await acquire(() => '5', { revoke: () => Promise.reject(error) });
      const failure = await lease.revoke().catch((thrown: unknown) => (thrown as Error).message);
      expect([failure, lease.signal.aborted]).to.deep.equal([message, true]);
    }
  });
});
