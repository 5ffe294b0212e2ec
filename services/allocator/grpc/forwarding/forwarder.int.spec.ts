import { createServer, type Server as TcpServer } from 'node:net';
import { Metadata, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { IpledgerError } from '../../../../lib/errors.ts';
import { call, connect } from '../../../../lib/grpc/client.ts';
import type { Method } from '../../../../proto/codec.ts';
import {
  type AllocateReply,
  type AllocateRequest,
  IpamService,
  SubnetsService,
} from '../../../../proto/generated/ipledger.ts';
import { startTestServer, type TestServer } from '../../../../lib/grpc/testing/grpc-test-server.ts';
import { waitForRetries, failureOf, createLatch, never } from '../../../../ledger/log/testing/running-writer.ts';
import { onBehalfOfKey } from '../../../../lib/grpc/server/authorization.ts';
import { Forwarder } from './forwarder.ts';
import { elapsedKey, forwardedKey } from '../../../../lib/grpc/server/call-context.ts';
import type { ForwardableCall } from '../../../../lib/grpc/server/serve.ts';
import {
  allocate,
  applyMacvlan,
  bind,
  allocateRequest,
  release,
  type ServedAllocator,
  serveAllocator,
  unbind,
} from '../testing/served-allocator.ts';

type AllocateCall = ServerUnaryCall<AllocateRequest, AllocateReply>;

/** A call without a deadline. */
const forwardableCall = (actor: string): ForwardableCall => ({
  path: IpamService.allocate.path,
  request: IpamService.allocate.requestSerialize(allocateRequest('a')),
  context: { actor, signal: never },
});

describe('A standby forwards calls that need the writer', () => {
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

  it('a standby forwards calls that need the writer and returns the replies of the writer', async () => {
    const given = await allocate(standby, 'a');
    expect(given).to.deep.equal(await allocate(writer, 'a'));
    expect((await bind(standby, 'a')).allocation?.bindings).to.have.length(1);
    expect(await unbind(standby, 'a')).to.include({ unbound: 1 });
    expect(await release(standby, 'a')).to.include({ released: 1 });
    await applyMacvlan(standby);
    const { position } = await standby.call(SubnetsService.deleteSubnet, { name: 'macvlan' });
    expect(position).to.include({ seq: writer.replica.head.seq });
  });

  it('a standby forwards calls that need the writer and returns the errors of the writer: status, code and message', async () => {
    await allocate(writer, 'a');
    const taken = allocateRequest('b', { candidates: [{ addresses: ['172.17.0.11'] }] });
    const refusal = await standby.refusal(IpamService.allocate, taken);
    expect(refusal).to.deep.equal(await writer.refusal(IpamService.allocate, taken));
    expect(refusal).to.include({ status: 'ALREADY_EXISTS', code: 'ADDRESS_IN_USE' });
  });

  it('a standby forwards requests and replies byte by byte, with fields that it does not know', async () => {
    const later: Method<AllocateRequest, AllocateReply, 'unary'> = {
      ...IpamService.allocate,
      // Field 999 of a later version: "\xba\x3e", followed by its length and text.
      requestSerialize: (request) =>
        Buffer.concat([IpamService.allocate.requestSerialize(request), Buffer.from('ba3e056c61746572', 'hex')]),
    };
    let arrived = Buffer.alloc(0);
    const definition = {
      ...IpamService,
      allocate: {
        ...IpamService.allocate,
        requestDeserialize: (bytes: Buffer) => {
          arrived = Buffer.from(bytes);
          return IpamService.allocate.requestDeserialize(bytes);
        },
      },
    };
    const answer = (_call: AllocateCall, reply: sendUnaryData<object>) => reply(null, { allocations: [] });
    await using fake = await startTestServer([definition, { allocate: answer }]);
    await standby.stepDown(fake.endpoint);
    await standby.call(later, allocateRequest('a'));
    expect(arrived.toString('latin1')).to.contain('later');
  });

  it('a standby forwards calls that need the writer and waits for a writer during a takeover', async () => {
    await standby.stepDown(undefined);
    const allocating = allocate(standby, 'a');
    await waitForRetries();
    await standby.stepDown('127.0.0.1:1'); // no server listens there
    await waitForRetries();
    await standby.stepDown(writer.endpoint);
    expect((await allocating).addresses[0]?.address).to.equal('172.17.0.11');
  });

  it('a standby forwards calls that need the writer and bounds the calls in flight', async () => {
    const forwarder = new Forwarder({
      connect: (address) => connect(address, undefined),
      writerWaitMs: 100,
      maxInFlight: 1,
    });
    const noWriter = () => Promise.reject(new IpledgerError('NOT_WRITER', 'not here'));
    const first = forwarder.forward(forwardableCall('one'), noWriter);
    const second = await failureOf(forwarder.forward(forwardableCall('two'), noWriter));
    expect(second).to.include({ code: 'UNAVAILABLE' });
    expect(await failureOf(first)).to.include({ code: 'NOT_WRITER' });
    expect(await failureOf(forwarder.forward(forwardableCall('three'), noWriter))).to.include({
      code: 'NOT_WRITER',
    });
  });

  it('a standby forwards calls that need the writer and reports that there is no writer when none appears in time', async () => {
    await standby.stepDown(undefined);
    expect(await standby.refusal(IpamService.allocate, allocateRequest('a'))).to.deep.equal({
      status: 'UNAVAILABLE',
      code: 'LEDGER_NOT_WRITABLE',
      message:
        'no allocator is the writer: no address can be allocated or released. Follow the runbook IpledgerNoWriter',
    });
  });

  it('a standby forwards a call over only one hop, even if two standbys take each other for the writer', async () => {
    await using other = await serveAllocator(writer.memory);
    await other.stepDown(standby.endpoint);
    await standby.stepDown(other.endpoint);
    expect(await standby.refusal(IpamService.allocate, allocateRequest('a'))).to.include({ code: 'NOT_WRITER' });
    await other.stepDown(undefined);
  });

  describe('when the writer fails', () => {
    let received: AllocateCall[];
    let fake: TestServer;
    let answer: (call: AllocateCall, reply: sendUnaryData<object>) => void;
    beforeEach(async () => {
      received = [];
      answer = () => undefined;
      const handle = (incoming: AllocateCall, reply: sendUnaryData<object>): void => {
        received.push(incoming);
        answer(incoming, reply);
      };
      fake = await startTestServer([IpamService, { allocate: handle }]);
      await standby.stepDown(fake.endpoint);
    });
    afterEach(() => fake[Symbol.asyncDispose]());

    const arrival = async (count = 1): Promise<AllocateCall> => {
      while (received.length < count) await waitForRetries();
      return received[count - 1] as AllocateCall;
    };

    it('A standby returns UNAVAILABLE and does not repeat a call that may have been executed', async () => {
      const refusal = standby.refusal(IpamService.allocate, allocateRequest('a'));
      await arrival();
      await fake[Symbol.asyncDispose]();
      expect(await refusal).to.deep.equal({
        status: 'UNAVAILABLE',
        code: 'UNAVAILABLE',
        message: `the connection to the writer at ${fake.endpoint} was lost, and whether it executed the request is unknown: repeat the request`,
      });
      expect(received).to.have.length(1);
    });

    it('A standby ends a call to a hanging writer when another replica is the writer', async () => {
      const refusal = standby.refusal(IpamService.allocate, allocateRequest('a'));
      const { cancelled } = await arrival();
      expect(cancelled).to.be.false;
      await standby.stepDown(writer.endpoint);
      expect((await refusal).message).to.contain('was lost, and whether it executed');
      expect((await allocate(standby, 'a')).addresses).to.have.length(1);
    });

    it('A standby ends a call to a hanging writer when this replica is the writer', async () => {
      const peer = connect(fake.endpoint, undefined);
      const forwarder = new Forwarder({ connect: () => peer, formerWriterGraceMs: 50 });
      forwarder.setRemoteWriter(fake.endpoint);
      const elsewhere = () => Promise.reject(new IpledgerError('NOT_WRITER', ''));
      const answered = failureOf(forwarder.forward(forwardableCall('anonymous'), elsewhere));
      await arrival();
      forwarder.setLocalWriter();
      expect((await answered).message).to.contain('was lost, and whether it executed');
      let elected = false;
      const waiting = forwarder.forward(forwardableCall('anonymous'), () =>
        elected ? Promise.resolve('here') : elsewhere(),
      );
      elected = true;
      expect(await waiting).to.equal('here');
      expect(received).to.have.length(1);
    });

    it('A standby accepts a late reply of the former writer', async () => {
      const served = createLatch();
      answer = (_call, reply) => void served.opened.then(() => reply(null, { position: { epoch: 1, seq: 7 } }));
      const allocating = standby.call(IpamService.allocate, allocateRequest('a'));
      await arrival();
      await standby.stepDown(writer.endpoint);
      served.open();
      expect((await allocating).position?.seq).to.equal(7);
    });

    it('A standby keeps waiting for the last writer while no other writer is known', async () => {
      const allocating = standby.call(IpamService.allocate, allocateRequest('a'));
      await arrival();
      await standby.stepDown(undefined);
      await waitForRetries();
      await standby.stepDown(fake.endpoint);
      await waitForRetries();
      expect(received).to.have.length(1);
      await fake[Symbol.asyncDispose]();
      expect((await failureOf(allocating)).message).to.contain('was lost, and whether it executed');
    });

    it('A standby repeats a call that the replica rejects with NOT_WRITER', async () => {
      answer = (_call, reply) => {
        const metadata = new Metadata();
        metadata.set('ipledger-code', 'NOT_WRITER');
        reply({ code: status.UNAVAILABLE, details: 'not the writer', metadata });
        answer = (_again, secondReply) => secondReply(null, { position: { epoch: 1, seq: 7 } });
      };
      expect((await standby.call(IpamService.allocate, allocateRequest('a'))).position?.seq).to.equal(7);
      expect(received).to.have.length(2);
    });

    it('a forwarded call is cancelled when its caller cancels it', async () => {
      const leaving = new AbortController();
      const options = { timeoutMs: 20_000, signal: leaving.signal };
      const failed = failureOf(call(standby.client, IpamService.allocate, allocateRequest('a'), options));
      const incoming = await arrival();
      const cancelled = createLatch();
      incoming.on('cancelled', cancelled.open);
      leaving.abort();
      await cancelled.opened;
      expect(await failed).to.have.property('code', 'CANCELLED');
    });

    it('A standby sends the deadline of the caller', async () => {
      const deadline = Date.now() + 60_000;
      const failed = failureOf(call(standby.client, IpamService.allocate, allocateRequest('a'), { timeoutMs: 60_000 }));
      const incoming = await arrival();
      expect(Number(incoming.getDeadline())).to.be.within(deadline - 30_000, deadline + 30_000);
      await standby.stepDown(writer.endpoint);
      await failed;
    });

    it('A standby sends how long the caller has waited, and that the call is forwarded', async () => {
      await standby.stepDown(undefined);
      const startedAt = performance.now();
      const failed = failureOf(standby.call(IpamService.allocate, allocateRequest('a')));
      await new Promise((resolve) => setTimeout(resolve, 150));
      await standby.stepDown(fake.endpoint);
      const { metadata } = await arrival();
      // The standby counts from the arrival of the call, which a busy machine may delay.
      expect(Number(metadata.get(elapsedKey)[0])).to.be.within(1, performance.now() - startedAt);
      expect(metadata.get(forwardedKey)).to.have.length(1);
      expect(metadata.get(onBehalfOfKey), 'without TLS there is no identity').to.have.length(0);
      await standby.stepDown(writer.endpoint);
      await failed;
    });
  });

  it('a standby forwards calls that need the writer with the identity of the caller', async () => {
    const metadata: Metadata[] = [];
    const handle = (incoming: AllocateCall, reply: sendUnaryData<object>): void => {
      metadata.push(incoming.metadata);
      reply(null, {});
    };
    await using fake = await startTestServer([IpamService, { allocate: handle }]);
    const forwarder = new Forwarder({ connect: (address) => connect(address, undefined) });
    forwarder.setRemoteWriter(fake.endpoint);
    const actor = 'ipledger://watcher';
    await forwarder.forward(forwardableCall(actor), () => Promise.reject(new IpledgerError('NOT_WRITER', '')));
    expect(metadata[0]?.get(onBehalfOfKey)).to.deep.equal([actor]);
    forwarder.close();
  });

  it('a standby forwards calls that need the writer and counts valid_ms from the arrival at the standby', async () => {
    await standby.stepDown(undefined);
    const refusal = standby.refusal(IpamService.allocate, { ...allocateRequest('a'), validMs: 100 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await standby.stepDown(writer.endpoint);
    expect(await refusal).to.include({ status: 'DEADLINE_EXCEEDED', code: 'DEADLINE_PASSED' });
  });

  it('a standby forwards calls that need the writer and returns UNAVAILABLE for a peer that does not speak gRPC', async () => {
    const tcp: TcpServer = createServer((socket) => socket.end('HTTP/1.1 404 Not Found\r\n\r\n'));
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    await standby.stepDown(`127.0.0.1:${(tcp.address() as { port: number }).port}`);
    expect(await standby.refusal(IpamService.allocate, allocateRequest('a'))).to.include({ status: 'UNAVAILABLE' });
    tcp.close();
  });
});
