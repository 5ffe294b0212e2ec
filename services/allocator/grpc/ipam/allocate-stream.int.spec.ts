import { Server, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import type { ErrorCode } from '../../../../lib/errors.ts';
import { call, connect, type Connection } from '../../../../lib/grpc/client.ts';
import { maxRequestBytes, maxStreamRequests } from '../../../../lib/grpc/server/request-limits.ts';
import { addGrpcService, type ServeOptions } from '../../../../lib/grpc/server/serve.ts';
import { listenOnLoopback } from '../../../../lib/grpc/testing/grpc-test-server.ts';
import { formatTraceparent, podTrace } from '../../../../lib/tracing/trace-context.ts';
import { Tracer } from '../../../../lib/tracing/tracer.ts';
import type { FinishedSpan } from '../../../../lib/tracing/span.ts';
import { IpamService } from '../../../../proto/generated/ipledger.ts';
import { createLatch, failureOf, never, silentLog } from '../../../../ledger/log/testing/running-writer.ts';
import { addServices } from '../services.ts';
import { AllocateStream, currentClient } from '../testing/allocate-stream.ts';
import {
  allocate,
  allocateRequest,
  applyMacvlan,
  applySubnet,
  type ServedAllocator,
  serveAllocator,
} from '../testing/served-allocator.ts';

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('Ipam.AllocateStream', () => {
  let served: ServedAllocator;
  let stream: AllocateStream;
  const opened: { close(): void }[] = [];
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
    stream = new AllocateStream(served.client);
  });
  afterEach(async () => {
    stream.cancel();
    for (const each of opened.splice(0)) each.close();
    await served[Symbol.asyncDispose]();
  });

  /** Holds the next append until `release`. `held` resolves when it began. */
  function holdAppend(): { readonly held: Promise<void>; release(): void } {
    const [held, released] = [createLatch(), createLatch()];
    served.ledger.faults.push(async (append) => {
      held.open();
      await released.opened;
      return append();
    });
    return { held: held.opened, release: released.open };
  }

  /** Serves the same allocator with these options. */
  async function serve(options: Partial<ServeOptions>): Promise<Connection> {
    const server = new Server({ 'grpc.max_receive_message_length': maxRequestBytes });
    addServices(server, served.allocator, { log: silentLog, ...options });
    const connection = connect(await listenOnLoopback(server), undefined);
    opened.push(connection, { close: () => server.forceShutdown() });
    return connection;
  }

  /** Resolves when the server has received what was sent before on this connection. */
  const roundTrip = async (): Promise<unknown> =>
    failureOf(call(served.client, { ...IpamService.allocate, path: '/no/Method' }, {}, { timeoutMs: 20_000 }));

  /** The number of requests that the writer has, without those that are answered. */
  const pendingRequests = (): number =>
    (served.ledger.tried.at(-1)?.events.length ?? 0) + (served.allocator.writer()?.queueLength ?? 0);

  it('answers each request by its id, in any order of ids', async () => {
    const ids = [7, 3, 2 ** 53 - 1, 0];
    stream.send({ requests: ids.map((id) => ({ id, request: allocateRequest(`pod-${id}`) })) });
    stream.halfClose();
    await stream.ended;
    const answered = stream.results.map(({ id, reply }) => [id, reply?.allocations[0]?.attachment?.pod]);
    expect(answered).to.have.deep.members(ids.map((id) => [id, `pod-${id}`]));
  });

  it('returns the replies and the errors of Allocate', async () => {
    await applySubnet(served, 'full', { cidrBlock: '10.0.0.0/30', gateway: '10.0.0.1' });
    await allocate(served, 'taken', { candidates: [{ addresses: ['172.17.0.99'] }] });
    const requests = [
      allocateRequest('a'),
      allocateRequest('b', {}, { node: 'node-1', owner: { kind: 'StatefulSet', name: 'db', uid: 'uid-of-db' } }),
      allocateRequest('c', { candidates: [{ addresses: ['172.17.0.99'] }] }),
      allocateRequest('d', { subnets: ['nowhere'] }),
      allocateRequest('e', { provider: 'x'.repeat(400) }),
      allocateRequest('f', {}, { uid: '' }),
      { ...allocateRequest('g'), validMs: 1, attachments: [] },
      {},
    ];
    for (const request of requests) {
      const outcome = await stream.allocate(request).catch((error: unknown) => error as Error);
      const unary = await served.call(IpamService.allocate, request).catch((error: unknown) => error as Error);
      // A repeated Allocate returns the same reply.
      if (unary instanceof Error)
        expect(outcome).to.include({ code: (unary as unknown as { code: ErrorCode }).code, message: unary.message });
      else expect(outcome).to.deep.equal(unary);
    }
  });

  it('answers the other requests of a message in which one is refused', async () => {
    const taken = { candidates: [{ addresses: ['172.17.0.11'] }] };
    const [first, second, third] = await Promise.allSettled([
      stream.allocate(allocateRequest('a', taken)),
      stream.allocate(allocateRequest('b', taken)),
      stream.allocate(allocateRequest('c')),
    ]);
    expect([first?.status, second?.status, third?.status]).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect((await stream.allocate(allocateRequest('d'))).allocations).to.have.length(1);
  });

  it('sends a result when its events are durable, not before', async () => {
    const { held, release } = holdAppend();
    const allocating = stream.allocate(allocateRequest('a'));
    await held;
    await roundTrip();
    expect(stream.results).to.deep.equal([]);
    release();
    const [allocation] = (await allocating).allocations;
    expect((await served.memory.head(never)).seq).to.be.at.least(allocation?.seq ?? Infinity);
  });

  it('reads no further while 512 requests have no result, and answers all in the end', async () => {
    const { held, release } = holdAppend();
    const requests = range(2 * maxStreamRequests).map((id) => stream.allocate(allocateRequest(`pod-${id}`)));
    await held;
    await roundTrip();
    expect(pendingRequests()).to.equal(maxStreamRequests);
    release();
    expect(await Promise.all(requests)).to.have.length(2 * maxStreamRequests);
  });

  it('answers all requests after the half-close, and ends', async () => {
    const { held, release } = holdAppend();
    const requests = range(100).map((id) => stream.allocate(allocateRequest(`pod-${id}`)));
    stream.halfClose();
    await held;
    release();
    expect(await stream.ended).to.equal(undefined);
    expect(await Promise.all(requests)).to.have.length(100);
  });

  it('ends with INVALID_REQUEST for an id without a result, and answers the first one', async () => {
    const { held, release } = holdAppend();
    stream.send({ requests: [{ id: 5, request: allocateRequest('a') }] });
    await held;
    stream.send({ requests: [{ id: 5, request: allocateRequest('b') }] });
    await roundTrip();
    release();
    expect(await stream.ended).to.include({ code: 'INVALID_REQUEST' });
    expect(stream.results.map(({ id }) => id)).to.deep.equal([5]);
    const { allocations } = await served.call(IpamService.listAllocations, {});
    expect(allocations.map(({ attachment }) => attachment?.pod)).to.deep.equal(['a']);
  });

  it('ends with INVALID_REQUEST for more requests in a message than may be in progress', async () => {
    stream.send({ requests: range(maxStreamRequests + 1).map((id) => ({ id })) });
    expect(await stream.ended).to.include({
      code: 'INVALID_REQUEST',
      message: 'requests has 513 entries, and 512 is the limit: shorten it',
    });
  });

  it('ends with RESOURCE_EXHAUSTED for a message over 1 MiB', async () => {
    const limited = new AllocateStream(await serve({}));
    limited.send({ requests: [{ id: 1, request: allocateRequest('x'.repeat(maxRequestBytes)) }] });
    expect((await limited.ended)?.cause).to.have.property('code', status.RESOURCE_EXHAUSTED);
  });

  it('ends with INVALID_REQUEST for a message that cannot be decoded', async () => {
    const { path } = IpamService.allocateStream;
    const same = (bytes: Buffer): Buffer => bytes;
    const sent = currentClient(served.client).makeBidiStreamRequest(path, same, same);
    const code = new Promise((resolve) => {
      sent.on('error', (error: { readonly code?: number }) => resolve(error.code));
    });
    sent.on('data', () => undefined);
    sent.write(Buffer.from('0aff', 'hex'));
    expect(await code).to.equal(status.INVALID_ARGUMENT);
  });

  it('decides no waiting request of a client that has left', async () => {
    const { held, release } = holdAppend();
    const requests = [stream.allocate(allocateRequest('a'))];
    await held;
    requests.push(stream.allocate(allocateRequest('b')));
    await roundTrip();
    stream.cancel();
    for (const request of requests) expect((await failureOf(request)).code).to.equal('CANCELLED');
    await roundTrip();
    release();
    await allocate(served, 'c');
    const { allocations } = await served.call(IpamService.listAllocations, {});
    expect(allocations.map(({ attachment }) => attachment?.pod)).to.deep.equal(['a', 'c']);
  });

  it('ends with UNAVAILABLE when its replica stops, after the results of the requests in progress', async () => {
    const stopping = new AbortController();
    const stopped = new AllocateStream(await serve({ stopping: stopping.signal }));
    const { held, release } = holdAppend();
    const allocating = stopped.allocate(allocateRequest('a'));
    await held;
    stopping.abort();
    release();
    expect((await allocating).allocations).to.have.length(1);
    expect(await stopped.ended).to.include({ code: 'UNAVAILABLE' });
  });

  it('counts and traces each request as a call of Allocate', async () => {
    const [counted, spans] = [[] as string[], [] as FinishedSpan[]];
    const tracer = new Tracer({ ratio: 1, record: (span) => spans.push(span) });
    const connection = await serve({ tracer, onAnswered: (path, code) => counted.push(`${path} ${code}`) });
    const traced = new AllocateStream(connection);
    await traced.allocate(allocateRequest('a'), formatTraceparent(podTrace('uid-a')));
    await failureOf(
      traced.allocate(allocateRequest('b', { subnets: ['nowhere'] }), formatTraceparent(podTrace('uid-b'))),
    );
    traced.halfClose();
    await traced.ended;
    const { path } = IpamService.allocate;
    expect(counted).to.deep.equal([`${path} OK`, `${path} SUBNET_UNKNOWN`]);
    const ofCalls = spans.filter(({ name }) => name === 'Ipam/Allocate');
    expect(ofCalls.map(({ context }) => context.traceId)).to.deep.equal(
      ['uid-a', 'uid-b'].map((uid) => podTrace(uid).traceId),
    );
  });

  it('is not served by a server without its handlers', async () => {
    const server = new Server();
    addGrpcService(server, IpamService, {}, { log: silentLog });
    const connection = connect(await listenOnLoopback(server), undefined);
    opened.push(connection, { close: () => server.forceShutdown() });
    expect(await new AllocateStream(connection).ended).to.include({ code: 'NOT_IMPLEMENTED' });
  });
});

describe('Ipam.AllocateStream at a standby', () => {
  let writer: ServedAllocator;
  let standby: ServedAllocator;
  beforeEach(async () => {
    writer = await serveAllocator();
    standby = await serveAllocator(writer.memory);
    await standby.stepDown(writer.endpoint);
    await applyMacvlan(writer);
  });
  afterEach(async () => {
    await standby[Symbol.asyncDispose]();
    await writer[Symbol.asyncDispose]();
  });

  it('returns the replies and the errors of the writer', async () => {
    const stream = new AllocateStream(standby.client);
    const taken = allocateRequest('b', { candidates: [{ addresses: ['172.17.0.11'] }] });
    expect(await stream.allocate(allocateRequest('a'))).to.deep.equal(
      await writer.call(IpamService.allocate, allocateRequest('a')),
    );
    expect(await failureOf(stream.allocate(taken))).to.include({ code: 'ADDRESS_IN_USE' });
    stream.halfClose();
    expect(await stream.ended).to.equal(undefined);
  });

  it('answers requests that arrive during a takeover by the next writer, on an open stream', async () => {
    const stream = new AllocateStream(writer.client);
    await stream.allocate(allocateRequest('a'));
    await writer.stepDown(undefined);
    const allocating = range(20).map((id) => stream.allocate(allocateRequest(`pod-${id}`)));
    await using next = await serveAllocator(writer.memory);
    await writer.stepDown(next.endpoint);
    expect(await Promise.all(allocating)).to.have.length(20);
    stream.cancel();
  });
});
