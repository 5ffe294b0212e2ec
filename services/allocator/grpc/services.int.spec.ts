import { ChannelCredentials, Client, Metadata, Server, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { call, connect, type Connection, stream } from '../../../lib/grpc/client.ts';
import { listenOnLoopback } from '../../../lib/grpc/testing/grpc-test-server.ts';
import type { Method } from '../../../proto/codec.ts';
import {
  IpamService,
  LedgerService,
  type ListAllocationsReply,
  SubnetsService,
} from '../../../proto/generated/ipledger.ts';
import { waitForRetries, failureOf, createLatch, never } from '../../../ledger/log/testing/running-writer.ts';
import { elapsedKey } from '../../../lib/grpc/server/call-context.ts';
import { type CallContext, type Handlers, addGrpcService } from '../../../lib/grpc/server/serve.ts';
import { type ServedAllocator, serveAllocator } from './testing/served-allocator.ts';

const services = { Ipam: IpamService, Subnets: SubnetsService, Ledger: LedgerService };

describe('The API', () => {
  let served: ServedAllocator;
  beforeEach(async () => {
    served = await serveAllocator();
  });
  afterEach(() => served[Symbol.asyncDispose]());

  /** Calls a method with an empty request. Returns "served", or its error. */
  function answerOf({ path, ...method }: Method<object, object>): Promise<'served' | IpledgerError> {
    const client = new Client(served.endpoint, ChannelCredentials.createInsecure());
    const answer = new Promise<'served' | IpledgerError>((resolve) => {
      const sent = client.makeBidiStreamRequest(path, method.requestSerialize, method.responseDeserialize);
      sent.on('error', (error) => resolve(IpledgerError.from(error)));
      sent.on('end', () => resolve('served'));
      sent.on('data', () => {
        resolve('served');
        sent.cancel();
      });
      sent.end({});
    });
    return answer.finally(() => client.close());
  }

  for (const [service, methods] of Object.entries(services))
    for (const method of Object.values(methods) as Method<object, object>[])
      it(`The API serves ${service}.${method.path.split('/').at(-1)}`, async () => {
        const answer = await answerOf(method);
        if (answer !== 'served') expect(answer.code).to.not.equal('NOT_IMPLEMENTED');
      });
});

describe('A service', () => {
  let server: Server;
  let client: Connection;
  const logged: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line) => logged.push(JSON.parse(line) as Record<string, unknown>) });

  async function start(
    list: Handlers<typeof IpamService>['listAllocations'] | undefined,
    watch?: Handlers<typeof LedgerService>['watch'],
  ) {
    server = new Server();
    addGrpcService(server, IpamService, { ...(list && { listAllocations: list }) }, { log });
    addGrpcService(server, LedgerService, { ...(watch && { watch }) }, { log });
    client = connect(await listenOnLoopback(server), undefined);
  }
  afterEach(() => {
    client.close();
    server.forceShutdown();
    logged.length = 0;
  });

  const list = (options = {}): Promise<ListAllocationsReply> =>
    call(client, IpamService.listAllocations, {}, { timeoutMs: 20_000, ...options });
  const watch = (signal = never) => stream(client, LedgerService.watch, {}, { silenceMs: 20_000, signal });
  const refuse = (error: Error) => (): Promise<never> => Promise.reject(error);

  it('A service returns UNIMPLEMENTED for a method without a handler', async () => {
    await start(undefined);
    const error = await failureOf(list());
    expect(error).to.include({
      code: 'NOT_IMPLEMENTED',
      message:
        '/ipledger.v1.Ipam/ListAllocations is not served here (docs/architecture.md lists the services of each program)',
    });
    expect(error.cause).to.have.property('code', status.UNIMPLEMENTED);
  });

  it('A service rejects a request beyond a limit before any work on it, and names field, length and limit', async () => {
    const message = 'namespace has 64 bytes, and 63 is the limit: shorten it';
    const refused: string[] = [];
    const handled = (): never => {
      refused.push('handled');
      throw new Error('it was handled');
    };
    await start(handled, handled);
    const namespace = 'x'.repeat(64);
    const unary = await failureOf(call(client, IpamService.listAllocations, { namespace }, { timeoutMs: 20_000 }));
    const options = { silenceMs: 20_000, signal: never };
    const streamed = await failureOf(stream(client, LedgerService.watch, { namespace }, options).next());
    for (const error of [unary, streamed]) expect(error).to.include({ code: 'INVALID_REQUEST', message });
    expect(unary.cause).to.have.property('code', status.INVALID_ARGUMENT);
    expect(refused).to.deep.equal([]);
  });

  it('A service passes the identity of the caller to the handler; without TLS it is anonymous', async () => {
    await start((_request, { actor }) => Promise.resolve({ nextPageToken: actor }));
    expect((await list()).nextPageToken).to.equal('anonymous');
  });

  it('A service passes the remaining time of the caller to the handler, and an elapsed time that is never negative', async () => {
    const times: number[] = [];
    await start((_request, context) => {
      times.push(context.elapsedMs?.() ?? -1, context.remainingMs?.() ?? -1);
      return Promise.resolve({});
    });
    const metadata = new Metadata();
    metadata.set(elapsedKey, '-1000000');
    await list({ metadata });
    expect(times[0]).to.be.within(0, 20_000);
    expect(times[1]).to.be.within(0, 20_000);
  });

  it('A service returns the status, code and message of an IpledgerError', async () => {
    await start(refuse(new IpledgerError('SUBNET_FULL', 'subnet macvlan is full')));
    const error = await failureOf(list());
    expect(error).to.include({ code: 'SUBNET_FULL', message: 'subnet macvlan is full' });
    expect(error.cause).to.have.property('code', status.RESOURCE_EXHAUSTED);
  });

  it('A service returns INTERNAL for all other errors', async () => {
    await start(refuse(new TypeError('x is not a function')));
    const error = await failureOf(list());
    expect(error).to.include({ code: 'BUG', message: 'x is not a function' });
    expect(error.cause).to.have.property('code', status.INTERNAL);
  });

  it('A service logs a bug with its stack', async () => {
    await start(refuse(new TypeError('x is not a function')));
    await failureOf(list());
    expect(logged.map(({ msg }) => msg)).to.deep.equal(['a call failed']);
    expect(logged[0]?.['err']).to.have.property('stack');
  });

  it('A service logs one line for an error that an operator must repair', async () => {
    await start(refuse(new IpledgerError('LEDGER_FROZEN', 'the ledger is frozen')));
    await failureOf(list());
    expect(logged).to.have.length(1);
    expect(logged[0]).to.include({
      code: 'LEDGER_FROZEN',
      reason: 'the ledger is frozen',
      path: '/ipledger.v1.Ipam/ListAllocations',
    });
    expect(logged[0]).to.not.have.property('err');
  });

  it('A service logs nothing for an error that the caller handles', async () => {
    await start(refuse(new IpledgerError('SUBNET_FULL', 'subnet macvlan is full')));
    await failureOf(list());
    expect(logged).to.deep.equal([]);
  });

  it('A service shortens a message that is longer than a header', async () => {
    await start(refuse(new IpledgerError('ADDRESS_IN_USE', 'ü'.repeat(1_000_000))));
    const error = await failureOf(list());
    expect(error.code).to.equal('ADDRESS_IN_USE');
    expect(error.message).to.match(/^ü+ … \(shortened\)$/);
  });

  for (const [what, options] of [
    ['disconnects', (signal: AbortSignal) => ({ signal })],
    ['reaches its deadline', () => ({ timeoutMs: 100 })],
  ] as const)
    it(`A service aborts the handler when the caller ${what}`, async () => {
      const aborted = createLatch();
      const entered = createLatch();
      await start(async (_request, { signal }) => {
        signal.addEventListener('abort', aborted.open);
        entered.open();
        await aborted.opened;
        return {};
      });
      const leaving = new AbortController();
      const failed = failureOf(list(options(leaving.signal)));
      await entered.opened;
      leaving.abort();
      await aborted.opened;
      expect((await failed).code).to.equal(what === 'disconnects' ? 'CANCELLED' : 'DEADLINE_PASSED');
    });

  it('A service streams until the handler ends', async () => {
    await start(undefined, async function* () {
      for (const seq of [1, 2, 3]) yield await Promise.resolve({ position: { epoch: 1, seq } });
    });
    const seqs: (number | undefined)[] = [];
    for await (const { position } of watch()) seqs.push(position?.seq);
    expect(seqs).to.deep.equal([1, 2, 3]);
  });

  it('A service ends a stream with the error, after the earlier replies', async () => {
    await start(undefined, async function* () {
      yield await Promise.resolve({ position: { epoch: 1, seq: 1 } });
      throw new IpledgerError('LEDGER_DAMAGED', 'the log is not dense');
    });
    const replies = watch();
    expect((await replies.next()).done).to.equal(false);
    expect(await failureOf(replies.next())).to.include({ code: 'LEDGER_DAMAGED', message: 'the log is not dense' });
  });

  /** Streams large replies endlessly, and counts them. */
  const flood = (produced: { count: number }, ended: () => void) =>
    async function* (_request: unknown, { signal }: CallContext) {
      try {
        for (; !signal.aborted; produced.count++)
          yield await Promise.resolve({ events: [{ stored: 'x'.repeat(100_000) }] });
      } finally {
        ended();
      }
    };

  it('A service produces no more replies than a slow reader accepts, and ends the handler when the reader disconnects', async () => {
    const ended = createLatch();
    const produced = { count: 0 };
    await start(undefined, flood(produced, ended.open));
    const leaving = new AbortController();
    const replies = watch(leaving.signal);
    await replies.next();
    let before = -1;
    while (before < produced.count) {
      before = produced.count;
      await waitForRetries();
    }
    expect(produced.count).to.be.below(200);
    leaving.abort();
    await ended.opened;
    await replies.next();
  });
});
