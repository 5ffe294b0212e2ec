import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { expect } from 'chai';
import { IpledgerError } from '../../errors.ts';
import { maxPageBytes } from '../../net/page-size.ts';
import { IpamService } from '../../../proto/generated/ipledger.ts';
import { maxStreamRequests } from './request-limits.ts';
import { RequestStream, type RequestStreamOptions, type StreamedRequest } from './request-stream.ts';

/** The call of a client. Messages are lists of ids in JSON. Each sent message is the list of the ids of its results. */
class FakeCall extends Duplex {
  readonly sent: number[][] = [];
  /** Called when the client reads the message that it has not read yet. */
  unread: (() => void) | undefined;
  reads = true;

  constructor() {
    super({ objectMode: true, readableHighWaterMark: 1, writableHighWaterMark: 1 });
  }

  override _read(): void {
    // Messages are pushed by the spec.
  }

  override _write(message: Buffer, _encoding: string, done: () => void): void {
    const { results } = IpamService.allocateStream.responseDeserialize(message);
    this.sent.push(results.map(({ id }) => id));
    if (this.reads) done();
    else this.unread = done;
  }

  message(...ids: readonly number[]): void {
    this.push(Buffer.from(JSON.stringify(ids)));
  }
}

describe('A stream of requests', () => {
  let call: FakeCall;
  let cancelled: AbortController;
  let stopping: AbortController;
  /** The requests in progress, and what answers them. */
  let progress: Map<number, (message?: string) => void>;
  beforeEach(() => {
    call = new FakeCall();
    [cancelled, stopping] = [new AbortController(), new AbortController()];
    progress = new Map();
  });

  /** Resolves to the error with which the stream ends, or "ended". */
  async function run(options: Partial<RequestStreamOptions> = {}): Promise<IpledgerError | 'ended'> {
    const request = (id: number): StreamedRequest => {
      let message = '';
      return {
        id,
        async answer() {
          const { promise, resolve } = Promise.withResolvers<string | undefined>();
          progress.set(id, resolve);
          message = (await promise) ?? '';
          progress.delete(id);
        },
        outcome: () => ({ error: { status: 6, code: 'ADDRESS_IN_USE', message } }),
      };
    };
    const stream = new RequestStream(call as unknown as ServerDuplexStream<Buffer, Buffer>, {
      receive: (message) => (JSON.parse(message.toString()) as number[]).map(request),
      verify: undefined,
      cancelled: cancelled.signal,
      stopping: stopping.signal,
      ...options,
    });
    try {
      await stream.run();
      return 'ended';
    } catch (error) {
      return IpledgerError.from(error);
    }
  }
  const settle = async (...ids: readonly number[]): Promise<void> => {
    for (const id of ids) progress.get(id)?.();
    await turns();
  };
  /** All that can happen without another event has happened. */
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await nextTurn();
  };
  const upTo = (count: number): number[] => Array.from({ length: count }, (_, id) => id);

  it('sends the results of one turn in one message, in any order of the requests', async () => {
    void run();
    call.message(1, 2);
    call.message(3);
    await turns();
    expect([...progress.keys()]).to.deep.equal([1, 2, 3]);
    await settle(3, 1);
    expect(call.sent).to.deep.equal([[3, 1]]);
    await settle(2);
    expect(call.sent).to.deep.equal([[3, 1], [2]]);
  });

  it('answers what it has received after a half-close, and ends', async () => {
    const ended = run();
    call.message(1, 2);
    call.push(null);
    await turns();
    await settle(1);
    await settle(2);
    expect(await ended).to.equal('ended');
    expect(call.sent).to.deep.equal([[1], [2]]);
  });

  it('reads no further while its maximum of requests is in progress', async () => {
    void run();
    call.message(...upTo(maxStreamRequests));
    call.message(1_000, 1_001);
    call.message(1_002);
    await turns();
    expect(progress.size).to.equal(maxStreamRequests);
    await settle(5);
    expect([...progress.keys()].at(-1)).to.equal(1_000);
    expect(progress.size).to.equal(maxStreamRequests);
    await settle(6, 7);
    expect([...progress.keys()].slice(-2)).to.deep.equal([1_001, 1_002]);
  });

  it('starts no request while the client reads no results', async () => {
    void run();
    call.reads = false;
    call.message(1);
    await turns();
    await settle(1);
    call.message(2);
    await turns();
    expect([...progress.keys()]).to.deep.equal([]);
    call.unread?.();
    await turns();
    expect([...progress.keys()]).to.deep.equal([2]);
  });

  it('splits results that are too large for one message', async () => {
    void run();
    call.message(1, 2, 3);
    await turns();
    const large = 'x'.repeat(maxPageBytes / 2);
    for (const answer of progress.values()) answer(large);
    await turns();
    expect(call.sent).to.deep.equal([[1], [2], [3]]);
  });

  it('accepts an id again after its result', async () => {
    void run();
    for (let round = 0; round < 2; round++) {
      call.message(1);
      await turns();
      await settle(1);
    }
    expect(call.sent).to.deep.equal([[1], [1]]);
  });

  it('ends with INVALID_REQUEST for a repeated id, after the results of the requests before it', async () => {
    const ended = run();
    call.message(1, 2);
    call.message(3, 1);
    await turns();
    expect([...progress.keys()]).to.deep.equal([1, 2]);
    await settle(1, 2);
    expect(await ended).to.include({
      code: 'INVALID_REQUEST',
      message: 'requests: the request with id 1 has no result yet: use another id, or wait for the result',
    });
    expect(call.sent).to.deep.equal([[1, 2]]);
  });

  it('ends with UNAVAILABLE when the server stops, after the results of the requests in progress', async () => {
    const ended = run();
    call.message(...upTo(maxStreamRequests));
    call.message(1_000);
    await turns();
    stopping.abort();
    await settle(...upTo(maxStreamRequests));
    expect(await ended).to.include({ code: 'UNAVAILABLE', message: 'this replica stops: connect to another' });
    expect(call.sent.flat()).to.have.length(maxStreamRequests);
  });

  it('ends with UNAVAILABLE when it is opened while the server stops', async () => {
    stopping.abort();
    expect(await run()).to.include({ code: 'UNAVAILABLE' });
  });

  it('starts and sends nothing after the client has left', async () => {
    const ended = run();
    call.message(...upTo(maxStreamRequests));
    call.message(1_000);
    await turns();
    cancelled.abort(new IpledgerError('CANCELLED', 'the caller has disconnected'));
    expect(await ended).to.include({ code: 'CANCELLED' });
    await settle(...upTo(maxStreamRequests));
    expect([call.sent, progress.size]).to.deep.equal([[], 0]);
  });

  it('verifies the caller again before each message but the first, and ends when it is rejected', async () => {
    const verifications = [undefined, new IpledgerError('UNAUTHENTICATED', 'the token has expired')];
    const verify = (): Promise<void> => {
      const error = verifications.shift();
      return error ? Promise.reject(error) : Promise.resolve();
    };
    const ended = run({ verify });
    for (const id of [1, 2, 3]) call.message(id);
    await turns();
    expect([...progress.keys()]).to.deep.equal([1, 2]);
    await settle(1, 2);
    expect(await ended).to.include({ code: 'UNAUTHENTICATED' });
    expect(call.sent).to.deep.equal([[1, 2]]);
  });
});
