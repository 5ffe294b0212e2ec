import { createServer, type Server as TcpServer } from 'node:net';
import { Metadata, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { call, connect } from '../../../lib/rpc.ts';
import type { Method } from '../../../proto/codec.ts';
import { type AllocateReply, type AllocateRequest, IpamService, SubnetsService } from '../../../proto/ipledger.ts';
import { serve, type TestServer } from '../../../test/grpc-server.ts';
import { afterAWhile, failureOf, gate, never } from '../ledger/specification.ts';
import { onBehalfOf } from '../../../lib/serving/authorization.ts';
import { Forwarder } from './forward.ts';
import { elapsedKey, type Passage, passedOnKey } from '../../../lib/serving/serve.ts';
import {
  allocate,
  applyMacvlan,
  bind,
  podAsks,
  release,
  type Served,
  serveAllocator,
  unbind,
} from './specification.ts';

type AllocateCall = ServerUnaryCall<AllocateRequest, AllocateReply>;

/** A call of a caller who waits for as long as it takes. */
const passageOf = (actor: string): Passage => ({
  path: IpamService.allocate.path,
  request: IpamService.allocate.requestSerialize(podAsks('a')),
  context: { actor, signal: never },
  passedOn: false,
});

describe('A standby passes on what only the writer can answer', () => {
  let writer: Served;
  let standby: Served;
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

  it('and gives the writer’s replies', async () => {
    const given = await allocate(standby, 'a');
    expect(given).to.deep.equal(await allocate(writer, 'a'));
    expect((await bind(standby, 'a')).allocation?.bindings).to.have.length(1);
    expect(await unbind(standby, 'a')).to.include({ unbound: 1 });
    expect(await release(standby, 'a')).to.include({ released: 1 });
    await applyMacvlan(standby);
    const { position } = await standby.call(SubnetsService.deleteSubnet, { name: 'macvlan' });
    expect(position).to.include({ seq: writer.replica.head.seq });
  });

  it('and the writer’s refusals: status, code and sentence', async () => {
    await allocate(writer, 'a');
    const taken = podAsks('b', { candidates: [{ addresses: ['172.17.0.11'] }] });
    const refusal = await standby.refusal(IpamService.allocate, taken);
    expect(refusal).to.deep.equal(await writer.refusal(IpamService.allocate, taken));
    expect(refusal).to.include({ status: 'ALREADY_EXISTS', code: 'ADDRESS_IN_USE' });
  });

  it('byte by byte, so that it need not know every field', async () => {
    const later: Method<AllocateRequest, AllocateReply, 'unary'> = {
      ...IpamService.allocate,
      // Field 999 of a later version: "\xba\x3e", then its length and text.
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
    await using fake = await serve([definition, { allocate: answer }]);
    await standby.stepDown(fake.endpoint);
    await standby.call(later, podAsks('a'));
    expect(arrived.toString('latin1')).to.contain('later');
  });

  it('and waits for a writer where there is none, so that a takeover is a pause', async () => {
    await standby.stepDown(undefined);
    const allocating = allocate(standby, 'a');
    await afterAWhile();
    await standby.stepDown('127.0.0.1:1'); // one that is gone already
    await afterAWhile();
    await standby.stepDown(writer.endpoint);
    expect((await allocating).addresses[0]?.address).to.equal('172.17.0.11');
  });

  it('and has no more of them in hand than it can hold', async () => {
    const forwarder = new Forwarder({ connect: (address) => connect(address, undefined), patienceMs: 100, most: 1 });
    const nobodyWrites = () => Promise.reject(new IpledgerError('NOT_WRITER', 'not here'));
    const first = forwarder.answer(passageOf('one'), nobodyWrites);
    const second = await failureOf(forwarder.answer(passageOf('two'), nobodyWrites));
    expect(second).to.include({ code: 'UNAVAILABLE' });
    expect(await failureOf(first)).to.include({ code: 'NOT_WRITER' });
    expect(await failureOf(forwarder.answer(passageOf('three'), nobodyWrites))).to.include({ code: 'NOT_WRITER' });
  });

  it('but to nobody for longer than it takes', async () => {
    await standby.stepDown(undefined);
    expect(await standby.refusal(IpamService.allocate, podAsks('a'))).to.deep.equal({
      status: 'UNAVAILABLE',
      code: 'NOT_WRITER',
      message: 'no allocator is the writer at this moment: try again',
    });
  });

  it('once: two that take each other for the writer do not pass it to and fro', async () => {
    await using other = await serveAllocator(writer.memory);
    await other.stepDown(standby.endpoint);
    await standby.stepDown(other.endpoint);
    expect(await standby.refusal(IpamService.allocate, podAsks('a'))).to.include({ code: 'NOT_WRITER' });
    await other.stepDown(undefined);
  });

  describe('to a writer that fails', () => {
    let asked: AllocateCall[];
    let fake: TestServer;
    let answer: (call: AllocateCall, reply: sendUnaryData<object>) => void;
    beforeEach(async () => {
      asked = [];
      answer = () => undefined;
      const received = (incoming: AllocateCall, reply: sendUnaryData<object>): void => {
        asked.push(incoming);
        answer(incoming, reply);
      };
      fake = await serve([IpamService, { allocate: received }]);
      await standby.stepDown(fake.endpoint);
    });
    afterEach(() => fake[Symbol.asyncDispose]());

    const arrival = async (count = 1): Promise<AllocateCall> => {
      while (asked.length < count) await afterAWhile();
      return asked[count - 1] as AllocateCall;
    };

    it('is not repeated when it may have been carried out: the caller is told', async () => {
      const refusal = standby.refusal(IpamService.allocate, podAsks('a'));
      await arrival();
      await fake[Symbol.asyncDispose]();
      expect(await refusal).to.deep.equal({
        status: 'UNAVAILABLE',
        code: 'UNAVAILABLE',
        message: `the writer at ${fake.endpoint} was lost at work, and whether it carried the request out is not known: ask the same again`,
      });
      expect(asked).to.have.length(1);
    });

    it('is not waited for when it hangs and another is the writer', async () => {
      const refusal = standby.refusal(IpamService.allocate, podAsks('a'));
      const { cancelled } = await arrival();
      expect(cancelled).to.be.false;
      await standby.stepDown(writer.endpoint);
      expect((await refusal).message).to.contain('was lost at work');
      expect((await allocate(standby, 'a')).addresses).to.have.length(1);
    });

    it('is not waited for when it hangs and this replica is the writer now', async () => {
      const peer = connect(fake.endpoint, undefined);
      const forwarder = new Forwarder({ connect: () => peer, graceMs: 50 });
      forwarder.turnTo(fake.endpoint);
      const elsewhere = () => Promise.reject(new IpledgerError('NOT_WRITER', ''));
      const answered = failureOf(forwarder.answer(passageOf('anonymous'), elsewhere));
      await arrival();
      forwarder.turnHere();
      expect((await answered).message).to.contain('was lost at work');
      let elected = false;
      const waiting = forwarder.answer(passageOf('anonymous'), () => (elected ? Promise.resolve('here') : elsewhere()));
      elected = true;
      expect(await waiting).to.equal('here');
      expect(asked).to.have.length(1);
    });

    it('may answer yet, for a moment, when another is the writer', async () => {
      const served = gate();
      answer = (_call, reply) => void served.opened.then(() => reply(null, { position: { epoch: 1, seq: 7 } }));
      const allocating = standby.call(IpamService.allocate, podAsks('a'));
      await arrival();
      await standby.stepDown(writer.endpoint);
      served.open();
      expect((await allocating).position?.seq).to.equal(7);
    });

    it('is waited for when it is not known whether another is the writer', async () => {
      const allocating = standby.call(IpamService.allocate, podAsks('a'));
      await arrival();
      await standby.stepDown(undefined);
      await afterAWhile();
      await standby.stepDown(fake.endpoint);
      await afterAWhile();
      expect(asked).to.have.length(1);
      await fake[Symbol.asyncDispose]();
      expect((await failureOf(allocating)).message).to.contain('was lost at work');
    });

    it('is repeated when that one says that it is not the writer', async () => {
      answer = (_call, reply) => {
        const metadata = new Metadata();
        metadata.set('ipledger-code', 'NOT_WRITER');
        reply({ code: status.UNAVAILABLE, details: 'not me', metadata });
        answer = (_again, secondReply) => secondReply(null, { position: { epoch: 1, seq: 7 } });
      };
      expect((await standby.call(IpamService.allocate, podAsks('a'))).position?.seq).to.equal(7);
      expect(asked).to.have.length(2);
    });

    it('is cancelled with the caller', async () => {
      const leaving = new AbortController();
      const options = { timeoutMs: 20_000, signal: leaving.signal };
      const failed = failureOf(call(standby.client, IpamService.allocate, podAsks('a'), options));
      const received = await arrival();
      const told = gate();
      received.on('cancelled', told.open);
      leaving.abort();
      await told.opened;
      expect(await failed).to.have.property('code', 'CANCELLED');
    });

    it('has the caller’s deadline', async () => {
      const deadline = Date.now() + 60_000;
      const failed = failureOf(call(standby.client, IpamService.allocate, podAsks('a'), { timeoutMs: 60_000 }));
      const received = await arrival();
      expect(Number(received.getDeadline())).to.be.within(deadline - 30_000, deadline + 30_000);
      await standby.stepDown(writer.endpoint);
      await failed;
    });

    it('is told how long the caller waited already, and that it is passed on', async () => {
      await standby.stepDown(undefined);
      const failed = failureOf(standby.call(IpamService.allocate, podAsks('a')));
      await new Promise((resolve) => setTimeout(resolve, 150));
      await standby.stepDown(fake.endpoint);
      const { metadata } = await arrival();
      expect(Number(metadata.get(elapsedKey)[0])).to.be.within(100, 10_000);
      expect(metadata.get(passedOnKey)).to.have.length(1);
      expect(metadata.get(onBehalfOf), 'without TLS nobody is known').to.have.length(0);
      await standby.stepDown(writer.endpoint);
      await failed;
    });
  });

  it('in the name of the caller', async () => {
    const metadata: Metadata[] = [];
    const received = (incoming: AllocateCall, reply: sendUnaryData<object>): void => {
      metadata.push(incoming.metadata);
      reply(null, {});
    };
    await using fake = await serve([IpamService, { allocate: received }]);
    const forwarder = new Forwarder({ connect: (address) => connect(address, undefined) });
    forwarder.turnTo(fake.endpoint);
    const actor = 'ipledger://watcher';
    await forwarder.answer(passageOf(actor), () => Promise.reject(new IpledgerError('NOT_WRITER', '')));
    expect(metadata[0]?.get(onBehalfOf)).to.deep.equal([actor]);
    forwarder.close();
  });

  it('counts how long it is valid from when it came to the standby', async () => {
    await standby.stepDown(undefined);
    const refusal = standby.refusal(IpamService.allocate, { ...podAsks('a'), validMs: 100 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await standby.stepDown(writer.endpoint);
    expect(await refusal).to.include({ status: 'DEADLINE_EXCEEDED', code: 'DEADLINE_PASSED' });
  });

  it('is deaf to a peer that speaks something else', async () => {
    const tcp: TcpServer = createServer((socket) => socket.end('HTTP/1.1 404 Not Found\r\n\r\n'));
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    await standby.stepDown(`127.0.0.1:${(tcp.address() as { port: number }).port}`);
    expect(await standby.refusal(IpamService.allocate, podAsks('a'))).to.include({ status: 'UNAVAILABLE' });
    tcp.close();
  });
});
