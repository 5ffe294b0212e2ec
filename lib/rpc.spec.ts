import { createServer, type AddressInfo, type Server } from 'node:net';
import type { ServerUnaryCall, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import { expect } from 'chai';
import {
  IpamService,
  LedgerService,
  type ListReply,
  type ListRequest,
  type WatchReply,
  type WatchRequest,
} from '../proto/ipledger.ts';
import { refusal, serve, type Served, type TestServer } from '../test/grpc-server.ts';
import { pause } from './deadline.ts';
import { IpledgerError } from './errors.ts';
import { call, connect, type Connection, fateOf, stream } from './rpc.ts';

type ListCall = ServerUnaryCall<ListRequest, ListReply>;
type WatchCall = ServerWritableStream<WatchRequest, { position: { epoch: number; seq: number } }>;

const patiently = { timeoutMs: 30_000 };
const never = new AbortController().signal;
const at = (seq: number) => ({ position: { epoch: 1, seq } });

async function withServer(services: readonly Served[], use: (client: Connection) => Promise<void>): Promise<void> {
  await using server = await serve(...services);
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

/** A peer that takes TCP connections and never says a word: a stopped process, or somebody else's port. */
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

const refused = async (answer: Promise<unknown>): Promise<IpledgerError> => {
  try {
    await answer;
  } catch (error) {
    expect(error).to.be.instanceOf(IpledgerError);
    return error as IpledgerError;
  }
  throw new Error('it was answered');
};

async function collect(replies: AsyncIterable<WatchReply>): Promise<number[]> {
  const seqs: number[] = [];
  for await (const reply of replies) seqs.push(reply.position?.seq ?? 0);
  return seqs;
}

describe('a call', () => {
  it('gives the reply', async () => {
    const list = ({ request }: ListCall, answer: sendUnaryData<object>) =>
      answer(null, { position: { epoch: 1, seq: 7 }, nextPageToken: `after ${request.subnet}` });
    await withServer([[IpamService, { list }]], async (client) => {
      const reply = await call(client, IpamService.list, { subnet: 'macvlan' }, patiently);
      expect(reply).to.deep.equal({
        position: { epoch: 1, seq: 7, hash: '' },
        allocations: [],
        nextPageToken: 'after macvlan',
      });
    });
  });

  it('fails with the code and the sentence that the server sent', async () => {
    const list = (_call: ListCall, answer: sendUnaryData<object>) =>
      answer(refusal(new IpledgerError('SUBNET_UNKNOWN', 'subnet nowhere is not configured')));
    await withServer([[IpamService, { list }]], async (client) => {
      const error = await refused(call(client, IpamService.list, {}, patiently));
      expect(error).to.include({ code: 'SUBNET_UNKNOWN', message: 'subnet nowhere is not configured' });
    });
  });

  it('fails with NOT_IMPLEMENTED where the server has no such method', async () => {
    await withServer([[IpamService, {}]], async (client) => {
      expect(await refused(call(client, IpamService.list, {}, patiently))).to.include({ code: 'NOT_IMPLEMENTED' });
    });
  });

  it('fails with UNAVAILABLE when nobody listens', async () => {
    const { endpoint } = await serve().then(async (server) => {
      await server[Symbol.asyncDispose]();
      return server;
    });
    await withClient(endpoint, async (client) => {
      expect(await refused(call(client, IpamService.list, {}, patiently))).to.include({ code: 'UNAVAILABLE' });
    });
  });

  it('fails with DEADLINE_PASSED on a peer that accepts the connection and never answers', async () => {
    await withSilentPeer(async (client) => {
      const error = await refused(call(client, IpamService.list, {}, { timeoutMs: 100 }));
      expect(error).to.include({ code: 'DEADLINE_PASSED', kind: 'transient' });
    });
  });

  it('is cancelled at both ends when its signal is aborted', async () => {
    const controller = new AbortController();
    const seenByServer = Promise.withResolvers<void>();
    const list = (received: ListCall) => {
      received.on('cancelled', seenByServer.resolve);
      controller.abort();
    };
    await withServer([[IpamService, { list }]], async (client) => {
      const error = await refused(call(client, IpamService.list, {}, { ...patiently, signal: controller.signal }));
      expect(error.code).to.equal('CANCELLED');
      await seenByServer.promise;
    });
  });

  it('is not sent when its signal was aborted before', async () => {
    let received = 0;
    const list = (_call: ListCall, answer: sendUnaryData<object>) => {
      received++;
      answer(null, {});
    };
    await withServer([[IpamService, { list }]], async (client) => {
      const error = await refused(call(client, IpamService.list, {}, { ...patiently, signal: AbortSignal.abort() }));
      expect(error.code).to.equal('CANCELLED');
      await call(client, IpamService.list, {}, patiently);
      expect(received).to.equal(1);
    });
  });
});

describe('a connection to several replicas', () => {
  /** A replica that says its name. */
  const replica = (name: string): Promise<TestServer> =>
    serve([IpamService, { list: (_call: ListCall, answer: sendUnaryData<object>) => answer(null, reply(name)) }]);
  const reply = (name: string) => ({ nextPageToken: name });
  const asks = async (client: Connection, options = patiently): Promise<string> =>
    (await call(client, IpamService.list, {}, options)).nextPageToken;

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

  it('asks the first, for as long as that answers', async () => {
    await withReplicas(['a', 'b'], async (client) => {
      for (let round = 0; round < 3; round++) expect(await asks(client)).to.equal('a');
    });
  });

  it('passes over those that are not there, within one call', async () => {
    await withReplicas(['a', 'b', 'c'], async (client, [a, b]) => {
      await a?.[Symbol.asyncDispose]();
      await b?.[Symbol.asyncDispose]();
      for (let round = 0; round < 3; round++) expect(await asks(client)).to.equal('c');
    });
  });

  it('goes on at another when the one that it speaks to is gone, and says so when none is left', async () => {
    await withReplicas(['a', 'b'], async (client, [a, b]) => {
      expect(await asks(client)).to.equal('a');
      await a?.[Symbol.asyncDispose]();
      expect(await asks(client)).to.equal('b');
      await b?.[Symbol.asyncDispose]();
      expect(await refused(asks(client))).to.include({ code: 'UNAVAILABLE' });
    });
  });

  it('knows names as well as addresses', async () => {
    await using a = await replica('a');
    await withClient(`127.0.0.1:1,localhost:${a.endpoint.split(':')[1]}`, async (client) => {
      expect(await asks(client)).to.equal('a');
    });
  });

  it('ends a call to one that hangs with its deadline, and asks another next', async () => {
    await using a = await replica('a');
    await withSilentPeer(
      async (client) => {
        expect(await refused(asks(client, { timeoutMs: 100 }))).to.include({ code: 'DEADLINE_PASSED' });
        expect(await asks(client)).to.equal('a');
      },
      [a.endpoint],
    );
  });

  it('turns away once, however many calls fail together', async () => {
    await using a = await replica('a');
    await using b = await replica('b');
    await withSilentPeer(
      async (client) => {
        const failed = Array.from({ length: 9 }, () => refused(asks(client, { timeoutMs: 100 })));
        await Promise.all(failed);
        expect(await asks(client)).to.equal('a');
      },
      [a.endpoint, b.endpoint],
    );
  });

  it('sends a request once that may have been carried out; the next goes to another', async () => {
    let received = 0;
    const list = (incoming: ListCall) => {
      received++;
      (incoming as unknown as { call: { stream: { session: { destroy(): void } } } }).call.stream.session.destroy();
    };
    await using breaking = await serve([IpamService, { list }]);
    await using a = await replica('a');
    await withClient(`${breaking.endpoint},${a.endpoint}`, async (client) => {
      expect(await refused(asks(client))).to.include({ code: 'UNAVAILABLE' });
      expect(await asks(client)).to.equal('a');
      expect(received).to.equal(1);
    });
  });

  for (const code of ['NOT_WRITER', 'UNAVAILABLE'] as const)
    it(`asks another next when one answers ${code}`, async () => {
      const list = (_call: ListCall, answer: sendUnaryData<object>) =>
        answer(refusal(new IpledgerError(code, 'not me')));
      await using refusing = await serve([IpamService, { list }]);
      await using a = await replica('a');
      await withClient(`${refusing.endpoint},${a.endpoint}`, async (client) => {
        const error = await refused(asks(client));
        expect(error).to.include({ code, message: 'not me' });
        expect(fateOf(error)).to.equal('refused');
        expect(await asks(client)).to.equal('a');
      });
    });

  it('takes a refusal for the answer that it is', async () => {
    const list = (_call: ListCall, answer: sendUnaryData<object>) =>
      answer(refusal(new IpledgerError('SUBNET_UNKNOWN', 'no such subnet')));
    await using refusing = await serve([IpamService, { list }]);
    await using a = await replica('a');
    await withClient(`${refusing.endpoint},${a.endpoint}`, async (client) => {
      for (let round = 0; round < 2; round++)
        expect(await refused(asks(client))).to.include({ code: 'SUBNET_UNKNOWN' });
    });
  });

  it('streams from another when one falls silent or is gone', async () => {
    const watch = (received: WatchCall) => void received.write(at(7));
    await using b = await serve([LedgerService, { watch }]);
    const first = async (client: Connection, silenceMs = 30_000): Promise<number> => {
      for await (const { position } of stream(client, LedgerService.watch, {}, { silenceMs, signal: never }))
        return position?.seq ?? 0;
      return 0;
    };
    await withSilentPeer(
      async (client) => {
        expect((await refused(first(client, 100))).message).to.contain('nothing heard for 100 ms');
        expect(await first(client)).to.equal(7);
      },
      [b.endpoint],
    );
    await withClient(`127.0.0.1:1,${b.endpoint}`, async (client) => {
      expect(await refused(first(client))).to.include({ code: 'UNAVAILABLE' });
      expect(await first(client)).to.equal(7);
    });
  });

  it('needs one at least', () => {
    expect(() => connect(' , ', undefined)).to.throw('no endpoint of an allocator: want host:port');
  });
});

describe('a stream', () => {
  const watching = (watch: (received: WatchCall) => void, use: (client: Connection) => Promise<void>) =>
    withServer([[LedgerService, { watch }]], use);
  const options = { silenceMs: 30_000, signal: never };

  it('gives the replies in order, and ends with the server', async () => {
    const watch = (received: WatchCall) => {
      for (const seq of [1, 2, 3]) received.write(at(seq));
      received.end();
    };
    await watching(watch, async (client) => {
      expect(await collect(stream(client, LedgerService.watch, { fromSeq: 1 }, options))).to.deep.equal([1, 2, 3]);
    });
  });

  it('breaks with the code that the server sent', async () => {
    const watch = (received: WatchCall) => {
      received.emit('error', refusal(new IpledgerError('POSITION_GONE', 'the log begins at 1000')));
    };
    await watching(watch, async (client) => {
      const error = await refused(collect(stream(client, LedgerService.watch, { fromSeq: 1 }, options)));
      expect(error).to.include({ code: 'POSITION_GONE', message: 'the log begins at 1000' });
    });
  });

  it('ends without an error, at both ends, when its signal is aborted', async () => {
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

  it('is not opened when its signal was aborted before', async () => {
    await withSilentPeer(async (client) => {
      const replies = stream(client, LedgerService.watch, {}, { ...options, signal: AbortSignal.abort() });
      expect(await collect(replies)).to.deep.equal([]);
    });
  });

  it('is closed at the server when the consumer leaves', async () => {
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

  it('is given up with UNAVAILABLE when the server falls silent', async () => {
    const watch = (received: WatchCall) => void received.write(at(1));
    await watching(watch, async (client) => {
      const error = await refused(collect(stream(client, LedgerService.watch, {}, { ...options, silenceMs: 100 })));
      expect(error).to.include({ code: 'UNAVAILABLE', message: '/ipledger.v1.Ledger/Watch: nothing heard for 100 ms' });
    });
  });

  it('is given up with UNAVAILABLE on a peer that accepts the connection and never answers', async () => {
    await withSilentPeer(async (client) => {
      const error = await refused(collect(stream(client, LedgerService.watch, {}, { ...options, silenceMs: 100 })));
      expect(error.code).to.equal('UNAVAILABLE');
    });
  });

  it('does not take a slow consumer for a silent server', async () => {
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
