/** The contract of a gRPC client: calls, streams and replicas. Each implementation must pass it. */
import { createServer, type AddressInfo, type Server } from 'node:net';
import type { ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import { expect } from 'chai';
import {
  IpamService,
  LedgerService,
  type ListAllocationsReply,
  type ListAllocationsRequest,
  type WatchReply,
  type WatchRequest,
} from '../../../proto/generated/ipledger.ts';
import { toServiceError, startTestServer, type TestService, type TestServer } from './grpc-test-server.ts';
import { pause } from '../../process/abortable.ts';
import { IpledgerError } from '../../errors.ts';
import { call, type Connection, callOutcome, stream } from '../calls.ts';
import type { connect as connectWithGrpcJs } from '../client.ts';

type ListCall = ServerUnaryCall<ListAllocationsRequest, ListAllocationsReply>;
type WatchCall = ServerWritableStream<WatchRequest, { position: { epoch: number; seq: number } }>;

const patiently = { timeoutMs: 30_000 };
const never = new AbortController().signal;
const at = (seq: number) => ({ position: { epoch: 1, seq } });

/** Registers the suite. @param connect opens a connection with the implementation under test */
export function describeClient(connect: typeof connectWithGrpcJs): void {
  async function withServer(
    services: readonly TestService[],
    use: (client: Connection) => Promise<void>,
  ): Promise<void> {
    await using server = await startTestServer(...services);
    await withClient(server.endpoint, use);
  }

  async function withClient(endpoint: string, use: (client: Connection) => Promise<void>): Promise<void> {
    const client = connect(endpoint, undefined);
    try {
      await use(client);
    } finally {
      client.close();
    }
  }

  /** Starts a server that accepts TCP connections and never replies, like a stopped process. */
  async function withSilentPeer(
    use: (client: Connection) => Promise<void>,
    others: readonly string[] = [],
  ): Promise<void> {
    const connections: { destroy(): void }[] = [];
    const server: Server = createServer((socket) => connections.push(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await withClient([`127.0.0.1:${(server.address() as AddressInfo).port}`, ...others].join(','), use);
    } finally {
      for (const connection of connections) connection.destroy();
      server.close();
    }
  }

  const rejection = async (answer: Promise<unknown>): Promise<IpledgerError> => {
    try {
      await answer;
    } catch (error) {
      expect(error).to.be.instanceOf(IpledgerError);
      return error as IpledgerError;
    }
    throw new Error('the call succeeded');
  };

  async function collect(replies: AsyncIterable<WatchReply>): Promise<number[]> {
    const seqs: number[] = [];
    for await (const reply of replies) seqs.push(reply.position?.seq ?? 0);
    return seqs;
  }

  describe('A call', () => {
    it('A call returns the reply', async () => {
      const list = ({ request }: ListCall, answer: sendUnaryData<object>) =>
        answer(null, { position: { epoch: 1, seq: 7 }, nextPageToken: `after ${request.subnet}` });
      await withServer([[IpamService, { listAllocations: list }]], async (client) => {
        const reply = await call(client, IpamService.listAllocations, { subnet: 'macvlan' }, patiently);
        expect(reply).to.deep.equal({
          position: { epoch: 1, seq: 7, hash: '' },
          allocations: [],
          nextPageToken: 'after macvlan',
        });
      });
    });

    it('A call fails with the code and the message of the server', async () => {
      const list = (_call: ListCall, answer: sendUnaryData<object>) =>
        answer(toServiceError(new IpledgerError('SUBNET_UNKNOWN', 'subnet nowhere is not configured')));
      await withServer([[IpamService, { listAllocations: list }]], async (client) => {
        const error = await rejection(call(client, IpamService.listAllocations, {}, patiently));
        expect(error).to.include({ code: 'SUBNET_UNKNOWN', message: 'subnet nowhere is not configured' });
      });
    });

    it('A call fails with NOT_IMPLEMENTED when the server has no such method', async () => {
      await withServer([[IpamService, {}]], async (client) => {
        expect(await rejection(call(client, IpamService.listAllocations, {}, patiently))).to.include({
          code: 'NOT_IMPLEMENTED',
        });
      });
    });

    it('A call fails with UNAVAILABLE when no server listens', async () => {
      const { endpoint } = await startTestServer().then(async (server) => {
        await server[Symbol.asyncDispose]();
        return server;
      });
      await withClient(endpoint, async (client) => {
        expect(await rejection(call(client, IpamService.listAllocations, {}, patiently))).to.include({
          code: 'UNAVAILABLE',
        });
      });
    });

    it('A call fails with DEADLINE_PASSED when the server accepts the connection and never replies', async () => {
      await withSilentPeer(async (client) => {
        const error = await rejection(call(client, IpamService.listAllocations, {}, { timeoutMs: 100 }));
        expect(error).to.include({ code: 'DEADLINE_PASSED', kind: 'transient' });
      });
    });

    it('A call fails with OVERLOADED when the reply is longer than 32 MiB, and leaves the connection open', async () => {
      const lengths = [(32 << 20) + 1, 20 << 20];
      const list = (_call: ListCall, answer: sendUnaryData<object>) =>
        answer(null, { nextPageToken: 'x'.repeat(lengths.shift() ?? 0) });
      await withServer([[IpamService, { listAllocations: list }]], async (client) => {
        expect(await rejection(call(client, IpamService.listAllocations, {}, patiently))).to.include({
          code: 'OVERLOADED',
        });
        const { nextPageToken } = await call(client, IpamService.listAllocations, {}, patiently);
        expect(nextPageToken).to.have.length(20 << 20);
      });
    });

    it('A call is cancelled on both sides when its signal is aborted', async () => {
      const controller = new AbortController();
      const seenByServer = Promise.withResolvers<void>();
      const list = (received: ListCall) => {
        received.on('cancelled', seenByServer.resolve);
        controller.abort();
      };
      await withServer([[IpamService, { listAllocations: list }]], async (client) => {
        const error = await rejection(
          call(client, IpamService.listAllocations, {}, { ...patiently, signal: controller.signal }),
        );
        expect(error.code).to.equal('CANCELLED');
        await seenByServer.promise;
      });
    });

    it('A call is not sent when its signal is already aborted', async () => {
      let received = 0;
      const list = (_call: ListCall, answer: sendUnaryData<object>) => {
        received++;
        answer(null, {});
      };
      await withServer([[IpamService, { listAllocations: list }]], async (client) => {
        const error = await rejection(
          call(client, IpamService.listAllocations, {}, { ...patiently, signal: AbortSignal.abort() }),
        );
        expect(error.code).to.equal('CANCELLED');
        await call(client, IpamService.listAllocations, {}, patiently);
        expect(received).to.equal(1);
      });
    });
  });

  describe('A connection to several replicas', () => {
    /** A replica that replies with its name. */
    const replica = (name: string): Promise<TestServer> =>
      startTestServer([
        IpamService,
        { listAllocations: (_call: ListCall, answer: sendUnaryData<object>) => answer(null, reply(name)) },
      ]);
    const reply = (name: string) => ({ nextPageToken: name });
    const replicaName = async (client: Connection, options = patiently): Promise<string> =>
      (await call(client, IpamService.listAllocations, {}, options)).nextPageToken;

    async function withReplicas(
      names: readonly string[],
      use: (client: Connection, replicas: readonly TestServer[]) => Promise<void>,
    ): Promise<void> {
      const replicas = await Promise.all(names.map(replica));
      try {
        await withClient(replicas.map(({ endpoint }) => endpoint).join(', '), (client) => use(client, replicas));
      } finally {
        for (const each of replicas) await each[Symbol.asyncDispose]();
      }
    }

    it('a connection uses the first replica while it replies', async () => {
      await withReplicas(['a', 'b'], async (client) => {
        for (let round = 0; round < 3; round++) expect(await replicaName(client)).to.equal('a');
      });
    });

    it('A connection to several replicas skips unreachable replicas within one call', async () => {
      await withReplicas(['a', 'b', 'c'], async (client, [a, b]) => {
        await a?.[Symbol.asyncDispose]();
        await b?.[Symbol.asyncDispose]();
        for (let round = 0; round < 3; round++) expect(await replicaName(client)).to.equal('c');
      });
    });

    it('A connection to several replicas fails over when its replica stops, and fails when no replica is left', async () => {
      await withReplicas(['a', 'b'], async (client, [a, b]) => {
        expect(await replicaName(client)).to.equal('a');
        await a?.[Symbol.asyncDispose]();
        expect(await replicaName(client)).to.equal('b');
        await b?.[Symbol.asyncDispose]();
        expect(await rejection(replicaName(client))).to.include({ code: 'UNAVAILABLE' });
      });
    });

    it('A connection to several replicas accepts host names and addresses', async () => {
      await using a = await replica('a');
      await withClient(`127.0.0.1:1,localhost:${a.endpoint.split(':')[1]}`, async (client) => {
        expect(await replicaName(client)).to.equal('a');
      });
    });

    it('A connection to several replicas ends a call to a hanging replica at its deadline, and uses another replica next', async () => {
      await using a = await replica('a');
      await withSilentPeer(
        async (client) => {
          expect(await rejection(replicaName(client, { timeoutMs: 100 }))).to.include({ code: 'DEADLINE_PASSED' });
          expect(await replicaName(client)).to.equal('a');
        },
        [a.endpoint],
      );
    });

    it('A connection to several replicas fails over once when many calls fail together', async () => {
      await using a = await replica('a');
      await using b = await replica('b');
      await withSilentPeer(
        async (client) => {
          const failed = Array.from({ length: 9 }, () => rejection(replicaName(client, { timeoutMs: 100 })));
          await Promise.all(failed);
          expect(await replicaName(client)).to.equal('a');
        },
        [a.endpoint, b.endpoint],
      );
    });

    it('A connection to several replicas does not repeat a request that may have been executed, and uses another replica next', async () => {
      let received = 0;
      const list = (incoming: ListCall) => {
        received++;
        (incoming as unknown as { call: { stream: { session: { destroy(): void } } } }).call.stream.session.destroy();
      };
      await using breaking = await startTestServer([IpamService, { listAllocations: list }]);
      await using a = await replica('a');
      await withClient(`${breaking.endpoint},${a.endpoint}`, async (client) => {
        expect(await rejection(replicaName(client))).to.include({ code: 'UNAVAILABLE' });
        expect(await replicaName(client)).to.equal('a');
        expect(received).to.equal(1);
      });
    });

    for (const code of ['NOT_WRITER', 'LEDGER_NOT_WRITABLE', 'UNAVAILABLE'] as const)
      it(`A connection to several replicas uses another replica after the error ${code}`, async () => {
        const list = (_call: ListCall, answer: sendUnaryData<object>) =>
          answer(toServiceError(new IpledgerError(code, 'not me')));
        await using refusing = await startTestServer([IpamService, { listAllocations: list }]);
        await using a = await replica('a');
        await withClient(`${refusing.endpoint},${a.endpoint}`, async (client) => {
          const error = await rejection(replicaName(client));
          expect(error).to.include({ code, message: 'not me' });
          expect(callOutcome(error)).to.equal('refused');
          expect(await replicaName(client)).to.equal('a');
        });
      });

    it('a connection does not fail over after the server rejects a call', async () => {
      const list = (_call: ListCall, answer: sendUnaryData<object>) =>
        answer(toServiceError(new IpledgerError('SUBNET_UNKNOWN', 'no such subnet')));
      await using refusing = await startTestServer([IpamService, { listAllocations: list }]);
      await using a = await replica('a');
      await withClient(`${refusing.endpoint},${a.endpoint}`, async (client) => {
        for (let round = 0; round < 2; round++)
          expect(await rejection(replicaName(client))).to.include({ code: 'SUBNET_UNKNOWN' });
      });
    });

    it('A connection to several replicas opens the next stream on another replica when a replica is silent or stops', async () => {
      const watch = (received: WatchCall) => void received.write(at(7));
      await using b = await startTestServer([LedgerService, { watch }]);
      const first = async (client: Connection, silenceMs = 30_000): Promise<number> => {
        for await (const { position } of stream(client, LedgerService.watch, {}, { silenceMs, signal: never }))
          return position?.seq ?? 0;
        return 0;
      };
      await withSilentPeer(
        async (client) => {
          expect((await rejection(first(client, 100))).message).to.contain('no reply for 100 ms');
          expect(await first(client)).to.equal(7);
        },
        [b.endpoint],
      );
      await withClient(`127.0.0.1:1,${b.endpoint}`, async (client) => {
        expect(await rejection(first(client))).to.include({ code: 'UNAVAILABLE' });
        expect(await first(client)).to.equal(7);
      });
    });

    it('A connection to several replicas requires at least one endpoint', () => {
      expect(() => connect(' , ', undefined)).to.throw('no endpoint of an allocator: set host:port');
    });
  });

  describe('A stream', () => {
    const watching = (watch: (received: WatchCall) => void, use: (client: Connection) => Promise<void>) =>
      withServer([[LedgerService, { watch }]], use);
    const options = { silenceMs: 30_000, signal: never };

    it('A stream yields the replies in order, and ends when the server ends it', async () => {
      const watch = (received: WatchCall) => {
        for (const seq of [1, 2, 3]) received.write(at(seq));
        received.end();
      };
      await watching(watch, async (client) => {
        expect(await collect(stream(client, LedgerService.watch, { fromSeq: 1 }, options))).to.deep.equal([1, 2, 3]);
      });
    });

    it('A stream fails with the code of the server', async () => {
      const watch = (received: WatchCall) => {
        received.emit('error', toServiceError(new IpledgerError('POSITION_GONE', 'the log begins at 1000')));
      };
      await watching(watch, async (client) => {
        const error = await rejection(collect(stream(client, LedgerService.watch, { fromSeq: 1 }, options)));
        expect(error).to.include({ code: 'POSITION_GONE', message: 'the log begins at 1000' });
      });
    });

    it('A stream ends without an error on both sides when its signal is aborted', async () => {
      const controller = new AbortController();
      const seenByServer = Promise.withResolvers<void>();
      const watch = (received: WatchCall) => {
        received.on('cancelled', seenByServer.resolve);
        received.write(at(1));
      };
      await watching(watch, async (client) => {
        const seqs: number[] = [];
        for await (const reply of stream(client, LedgerService.watch, {}, { ...options, signal: controller.signal })) {
          seqs.push(reply.position?.seq ?? 0);
          controller.abort();
        }
        expect(seqs).to.deep.equal([1]);
        await seenByServer.promise;
      });
    });

    it('A stream is not opened when its signal is already aborted', async () => {
      await withSilentPeer(async (client) => {
        const replies = stream(client, LedgerService.watch, {}, { ...options, signal: AbortSignal.abort() });
        expect(await collect(replies)).to.deep.equal([]);
      });
    });

    it('A stream is closed on the server when the consumer stops', async () => {
      const seenByServer = Promise.withResolvers<void>();
      const watch = (received: WatchCall) => {
        received.on('cancelled', seenByServer.resolve);
        received.write(at(1));
      };
      await watching(watch, async (client) => {
        for await (const reply of stream(client, LedgerService.watch, {}, options)) {
          expect(reply.position?.seq).to.equal(1);
          break;
        }
        await seenByServer.promise;
      });
    });

    it('A stream fails with UNAVAILABLE when the server is silent', async () => {
      const watch = (received: WatchCall) => void received.write(at(1));
      await watching(watch, async (client) => {
        const error = await rejection(collect(stream(client, LedgerService.watch, {}, { ...options, silenceMs: 100 })));
        expect(error).to.include({ code: 'UNAVAILABLE', message: '/ipledger.v1.Ledger/Watch: no reply for 100 ms' });
      });
    });

    it('A stream fails with UNAVAILABLE when the server accepts the connection and never replies', async () => {
      await withSilentPeer(async (client) => {
        const error = await rejection(collect(stream(client, LedgerService.watch, {}, { ...options, silenceMs: 100 })));
        expect(error.code).to.equal('UNAVAILABLE');
      });
    });

    it('a stream continues with a slow consumer, however long it takes', async () => {
      const opened = Promise.withResolvers<WatchCall>();
      const watch = (received: WatchCall) => {
        received.write(at(1));
        opened.resolve(received);
      };
      await watching(watch, async (client) => {
        const seqs: number[] = [];
        for await (const reply of stream(client, LedgerService.watch, {}, { ...options, silenceMs: 1_500 })) {
          seqs.push(reply.position?.seq ?? 0);
          if (seqs.length > 1) break;
          await pause(2_000, never);
          (await opened.promise).write(at(2));
        }
        expect(seqs).to.deep.equal([1, 2]);
      });
    });
  });
}
