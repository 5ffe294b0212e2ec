import { syncBuiltinESMExports } from 'node:module';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import timers from 'node:timers/promises';
import { expect } from 'chai';
import type { Etcd3 } from 'etcd3';
import { watchKey } from './head-watch.ts';

const { setTimeout: sleep } = timers;

/** The member that a watch is opened at fails, ends or is lost. */
interface Watch {
  readonly stream: PassThrough;
  readonly requests: { readonly create_request: { readonly key: Uint8Array } }[];
  readonly lost: AbortController;
  isCancelled: boolean;
}

describe('watchKey', () => {
  let watches: Watch[];
  /** The open pauses, by their milliseconds. */
  let pauses: { readonly ms: number; readonly end: () => void }[];
  let isReachable: boolean;
  let stopping: AbortController;
  beforeEach(() => {
    [watches, pauses, isReachable, stopping] = [[], [], true, new AbortController()];
    Object.assign(timers, {
      setTimeout: (ms: number, _value: unknown, { signal }: { readonly signal: AbortSignal }) =>
        new Promise<void>((resolve, reject) => {
          const pause = { ms, end: () => (close(), resolve()) };
          const close = (): void => void (pauses = pauses.filter((each) => each !== pause));
          const leave = (): void => (close(), reject(new Error('aborted')));
          pauses.push(pause);
          if (signal.aborted) leave();
          signal.addEventListener('abort', leave);
        }),
    });
    syncBuiltinESMExports();
  });
  afterEach(() => {
    stopping.abort();
    Object.assign(timers, { setTimeout: sleep });
    syncBuiltinESMExports();
  });

  function open(lost: AbortController): PassThrough {
    const requests: Watch['requests'] = [];
    const transform = (request: unknown, _: unknown, done: () => void): void => {
      requests.push(request as Watch['requests'][number]);
      done();
    };
    const stream = new PassThrough({ objectMode: true, transform });
    const watch: Watch = { stream, requests, lost, isCancelled: false };
    watches.push(watch);
    return Object.assign(stream, { cancel: () => (watch.isCancelled = true) });
  }
  const client = {
    pool: {
      withConnection: async (service: string, run: (connection: object) => unknown): Promise<unknown> => {
        if (!isReachable || service !== 'Watch') throw new Error('connection refused');
        const lost = new AbortController();
        const resource = { faultHandling: { lost: lost.signal } };
        return run({ client: { watch: () => open(lost) }, metadata: {}, resource });
      },
    },
  } as unknown as Etcd3;

  const turns = async (): Promise<void> => {
    for (let count = 0; count < 20; count++) await turn();
  };
  const milliseconds = (): number[] => pauses.map(({ ms }) => ms).toSorted((a, b) => a - b);
  /** Ends the open pause of this length. */
  const pass = async (ms: number): Promise<void> => {
    pauses.find((each) => each.ms === ms)?.end();
    await turns();
  };

  /**
   * Starts to watch, and returns a function that reads whether it has yielded since the last call.
   */
  async function start() {
    let yields = 0;
    const changes = watchKey(client, '/key', stopping.signal)[Symbol.asyncIterator]();
    const state = { hasEnded: false };
    void (async () => {
      while (!(await changes.next()).done) if (++yields > 100) stopping.abort(); // a spec never has that many
      state.hasEnded = true;
    })();
    await turns();
    return { state, yielded: () => [yields, (yields = 0)][0] };
  }

  it('watchKey yields once immediately, and then once after each change of the key', async () => {
    const { yielded } = await start();
    expect([yielded(), milliseconds()]).to.deep.equal([1, [1_000]]);
    for (let change = 0; change < 3; change++) {
      watches[0]?.stream.push('changed');
      await turns();
      expect([yielded(), milliseconds()]).to.deep.equal([1, [1_000]]);
    }
    const [watch] = watches;
    expect(watch?.requests.map(({ create_request: { key } }) => key.toString())).to.deep.equal(['/key']);
    expect([watches.length, watch?.isCancelled]).to.deep.equal([1, false]);
  });

  it('watchKey yields each second while the key does not change', async () => {
    const { yielded } = await start();
    yielded();
    for (let second = 0; second < 3; second++) {
      await pass(1_000);
      expect([yielded(), milliseconds()]).to.deep.equal([1, [1_000]]);
    }
  });

  for (const [what, end] of [
    ['that etcd ends', ({ stream }) => stream.push(null)],
    ['that fails', ({ stream }) => stream.destroy(new Error('connection lost'))],
    ['at a member that is lost', ({ lost }) => lost.abort()],
  ] as const satisfies readonly [string, (watch: Watch) => void][])
    it(`watchKey closes a watch ${what}, and opens another one after half a second`, async () => {
      const { yielded } = await start();
      yielded();
      const [first] = watches as [Watch];
      end(first);
      await turns();
      const isClosed = first.stream.writableEnded || first.stream.destroyed;
      expect([first.isCancelled, isClosed, watches.length]).to.deep.equal([true, true, 1]);
      expect(milliseconds()).to.deep.equal([500, 1_000]);
      await pass(500);
      expect([watches.length, watches[1]?.isCancelled, milliseconds()]).to.deep.equal([2, false, [1_000]]);
      yielded();
      watches[1]?.stream.push('changed');
      await turns();
      expect(yielded()).to.equal(1);
    });

  it('watchKey yields each second while no member can be reached, and tries to open a watch each half second', async () => {
    isReachable = false;
    const { yielded } = await start();
    expect([yielded(), milliseconds(), watches.length]).to.deep.equal([1, [500, 1_000], 0]);
    await pass(1_000);
    expect(yielded()).to.equal(1);
    await pass(500);
    expect([milliseconds(), watches.length]).to.deep.equal([[500, 1_000], 0]);
    isReachable = true;
    await pass(500);
    expect([milliseconds(), watches.length]).to.deep.equal([[1_000], 1]);
  });

  it('watchKey ends with its signal, and closes its watch', async () => {
    const { state } = await start();
    stopping.abort();
    await turns();
    expect([state.hasEnded, watches[0]?.isCancelled, watches.length, milliseconds()]).to.deep.equal([
      true,
      true,
      1,
      [],
    ]);
  });

  it('watchKey closes its watch when its consumer stops', async () => {
    const changes = watchKey(client, '/key', stopping.signal)[Symbol.asyncIterator]();
    await changes.next();
    await turns();
    await changes.return?.();
    await turns();
    expect([watches.length, watches[0]?.isCancelled, milliseconds()]).to.deep.equal([1, true, []]);
  });
});
