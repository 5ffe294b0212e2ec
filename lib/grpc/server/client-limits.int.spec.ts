/** Attacks on the memory of a server, by plain HTTP/2 clients with and without an identity. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { IpledgerError, status } from '../../errors.ts';
import { loadTls, type Tls } from '../../tls/credentials.ts';
import { type Identity, parseIdentity } from '../../tls/identity.ts';
import {
  type Authority,
  issueCertificate,
  openAuthority,
} from '../../../test/harness/certificates/certificate-authority.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import { frameMessage } from '../http2/connect.ts';
import type { TokenAccess } from './authorization.ts';
import { clientGroups } from './client-budgets.ts';
import { type LimitedServer, replyBytes, startLimitedServer } from './testing/limited-server.ts';

const MiB = 1 << 20;

describe('The limits of clients', function () {
  this.timeout(60_000);
  let folder: string;
  let authority: Authority;
  let tls: Tls;
  let server: LimitedServer;
  const opened: { destroy(): void }[] = [];

  const certificate = (uri: string) =>
    issueCertificate(authority, {
      name: uri.replaceAll(/\W+/g, '-'),
      commonName: 'x',
      alternativeNames: [`URI:${uri}`],
    });

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-limits-'));
    authority = await openAuthority(folder);
    tls = loadTls({ ca: authority.cert, ...(await certificate('ipledger://allocator/self')) });
  });
  after(() => rmSync(folder, { recursive: true }));
  afterEach(() => {
    for (const each of opened.splice(0)) each.destroy();
    server[Symbol.dispose]();
  });

  /** Accepts the tokens of one agent, rejects others, and never answers for pending tokens. */
  const tokens: TokenAccess = {
    authenticate: async (token) => {
      if (token.startsWith('pending')) await new Promise(() => undefined);
      const identity = parseIdentity(`ipledger://${token.split('.', 1).join()}/node-1`);
      if (identity) return identity;
      throw new IpledgerError('UNAUTHENTICATED', 'the token is rejected');
    },
  };

  async function openSession(port: number, identity?: string, scheme = 'https'): Promise<ClientHttp2Session> {
    const pair = identity === undefined ? undefined : await certificate(identity);
    const files = pair && { cert: readFileSync(pair.cert), key: readFileSync(pair.key) };
    const options = { rejectUnauthorized: false, maxSessionMemory: 1_000, ...files };
    const session = connect(`${scheme}://127.0.0.1:${port}`, options);
    session.on('error', () => {});
    opened.push(session);
    await once(session, 'remoteSettings');
    return session;
  }

  /** Begins a call with an incomplete request. Ignores the error with which the call ends. */
  function begin(session: ClientHttp2Session, path: string, headers: OutgoingHttpHeaders = {}): ClientHttp2Stream {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    return stream.on('error', () => {});
  }

  /** The status of a call when its stream has ended, or the reason why there is none. */
  async function outcome(stream: ClientHttp2Stream): Promise<number | string> {
    let sent: unknown;
    stream.on('response', (headers) => (sent = headers['grpc-status']));
    stream.on('trailers', (headers: Record<string, unknown>) => void (sent = headers['grpc-status']));
    stream.resume();
    if (!stream.closed) await once(stream, 'close');
    return sent === undefined ? `reset ${stream.rstCode}` : Number(sent);
  }

  /** The status in the first headers of a response; OK if replies follow. */
  async function firstStatus(call: ClientHttp2Stream): Promise<number> {
    const [headers] = (await once(call, 'response')) as [Record<string, string>];
    return Number(headers['grpc-status'] ?? status.OK);
  }

  const listBindings = (session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}): Promise<number | string> => {
    const call = begin(session, IpamService.listBindings.path, headers);
    call.end(frameMessage(IpamService.listBindings.requestSerialize({ node: 'node-1' })));
    return outcome(call);
  };

  /** Sends a message without its last byte. Resolves when it is sent or the call has ended. */
  const sendUnfinished = (stream: ClientHttp2Stream, bytes: number): Promise<unknown> =>
    new Promise((resolve) => {
      stream.once('close', resolve).resume();
      stream.write(frameMessage(Buffer.alloc(bytes)).subarray(0, bytes + 4), resolve);
    });

  const countOf = (outcomes: readonly unknown[], expected: number) => outcomes.filter((one) => one === expected).length;

  describe('without an identity', () => {
    beforeEach(async () => {
      server = await startLimitedServer(tls, tokens);
    });

    it('The limits of clients without an identity end the connection after the first refused call, and reset its stream', async () => {
      const session = await openSession(server.port);
      const ended = once(session, 'close');
      const call = begin(session, LedgerService.getStatus.path, { authorization: 'Bearer wrong.to.ken' });
      void sendUnfinished(call, MiB);
      expect(await outcome(call)).to.equal(status.UNAUTHENTICATED);
      await ended;
      while (server.connections.budgets.clientCount > 0) await new Promise(setImmediate);
      expect(server.connections.budgets.bytes).to.equal(0);
    });

    it('The limits of clients without an identity end the connection even for an unknown method, and for a request that is not gRPC', async () => {
      for (const [path, headers] of [
        ['/unknown.Service/Method', {}],
        [LedgerService.getStatus.path, { 'content-type': 'text/html' }],
      ] as const) {
        const session = await openSession(server.port);
        const ended = once(session, 'close');
        await outcome(begin(session, path, headers));
        await ended;
      }
    });

    it('The limits of clients without an identity refuse headers of more than 24 KiB', async () => {
      const session = await openSession(server.port);
      const call = begin(session, LedgerService.getStatus.path, { 'x-large': 'x'.repeat(25_000) });
      expect(await outcome(call)).to.equal(status.INVALID_ARGUMENT);
    });

    it('The limits of clients without an identity stop reading a connection whose calls have large headers', async () => {
      const session = await openSession(server.port);
      const headers = { authorization: 'Bearer pending.to.ken', 'x-large': 'x'.repeat(15_000) };
      for (let calls = 0; calls < 99; calls++) begin(session, SubnetsService.applySubnet.path, headers);
      const last = begin(session, LedgerService.getStatus.path, { authorization: 'Bearer wrong.to.ken' });
      expect(await outcome(last).catch(() => 'not read')).to.not.equal(status.UNAUTHENTICATED);
    });

    it('The limits of clients without an identity hold at most 8 MiB of an address while tokens are verified', async () => {
      const headers = { authorization: 'Bearer pending.to.ken', 'x-large': 'x'.repeat(3_000) };
      const refused: unknown[] = [];
      for (let opening = 0; opening < 25; opening++) {
        const session = await openSession(server.port);
        const calls = Array.from({ length: 16 }, () => begin(session, SubnetsService.applySubnet.path, headers));
        for (const call of calls) {
          void sendUnfinished(call, MiB);
          void outcome(call).then((status) => refused.push(status));
        }
        await new Promise((resolve) => session.ping(resolve));
        expect(server.connections.budgets.bytes).to.be.within(1, clientGroups.unidentified.maxClientBytes);
      }
      while (refused.length < 100) await new Promise(setImmediate);
    });

    it('The limits of clients without an identity close the oldest connection beyond 1,024, while a client with an identity is served', async () => {
      const agent = await openSession(server.port);
      const call = () => {
        const stream = begin(agent, IpamService.listBindings.path, { authorization: 'Bearer agent.to.ken' });
        stream.end(frameMessage(IpamService.listBindings.requestSerialize({ node: 'node-1' })));
        return outcome(stream);
      };
      expect(await call()).to.equal(status.OK);
      const silent: Socket[] = [];
      for (let round = 0; round < 12; round++)
        await Promise.all(
          Array.from({ length: 100 }, async () => {
            const socket = connectTcp({ host: '127.0.0.1', port: server.port });
            opened.push(socket.on('error', () => {}));
            silent.push(socket.resume());
            await once(socket, 'connect');
          }),
        );
      const closed = silent
        .slice(0, 176)
        .filter((socket) => !socket.closed)
        .map((socket) => once(socket, 'close'));
      await Promise.all(closed);
      expect(silent.filter((socket) => !socket.closed)).to.have.length(1_024);
      expect(server.connections.unidentifiedCount).to.equal(1_024);
      expect(await call()).to.equal(status.OK);
    });
  });

  describe('with an identity', () => {
    beforeEach(async () => {
      server = await startLimitedServer(tls);
    });

    it('The limits of clients with an identity refuse more than 4 KiB of an agent before its request is complete', async () => {
      const session = await openSession(server.port, 'ipledger://agent/node-1');
      const call = begin(session, IpamService.listBindings.path);
      void sendUnfinished(call, 5_000);
      expect(await outcome(call)).to.equal(status.INVALID_ARGUMENT);
      expect(server.handled).to.deep.equal([]);
    });

    it('The limits of clients with an identity refuse a complete request with the same status', async () => {
      const session = await openSession(server.port, 'ipledger://agent/node-1');
      expect(await listBindings(session)).to.equal(status.OK);
      // More calls than are answered at once.
      const calls = Array.from({ length: 25 }, () => begin(session, IpamService.listBindings.path));
      for (const call of calls) call.end(frameMessage(Buffer.alloc(5_000)));
      expect(new Set(await Promise.all(calls.map(outcome)))).to.deep.equal(new Set([status.INVALID_ARGUMENT]));
    });

    it('The limits of clients with an identity refuse a request that is longer than its fields allow, even from an operator', async () => {
      const session = await openSession(server.port, 'ipledger://operator/me');
      const calls = [LedgerService.getStatus, LedgerService.watch].map(({ path }) => begin(session, path));
      const large = begin(session, SubnetsService.applySubnet.path);
      const outcomes = Promise.all(calls.map(outcome));
      for (const call of [...calls, large]) void sendUnfinished(call, 30_000);
      expect(await outcomes).to.deep.equal([status.INVALID_ARGUMENT, status.INVALID_ARGUMENT]);
      expect(large.closed).to.equal(false);
    });

    it('The limits of clients with an identity refuse compressed requests without inflating them', async () => {
      for (const identity of ['ipledger://agent/node-1', 'ipledger://operator/me']) {
        const session = await openSession(server.port, identity);
        const call = begin(session, IpamService.listBindings.path, { 'grpc-encoding': 'gzip' });
        const message = frameMessage(gzipSync(Buffer.alloc(1_000)));
        message[0] = 1;
        call.end(message);
        expect(await outcome(call)).to.equal(status.UNIMPLEMENTED);
      }
      expect(server.handled).to.deep.equal([]);
    });

    it('The limits of clients with an identity hold at most 24 MiB of requests that do not end, and serve another client', async () => {
      const session = await openSession(server.port, 'ipledger://operator/me');
      const first = begin(session, SubnetsService.applySubnet.path);
      void sendUnfinished(first, 1_000); // identifies
      await new Promise((resolve) => session.ping(resolve));
      const calls = Array.from({ length: 200 }, () => begin(session, LedgerService.verify.path));
      const outcomes = Promise.all(calls.map(outcome));
      for (const call of calls) void sendUnfinished(call, 900_000);
      const another = await openSession(server.port, 'ipledger://watcher');
      const served = begin(another, LedgerService.getStatus.path);
      served.end(frameMessage(Buffer.alloc(0)));
      expect(await outcome(served)).to.equal(status.OK);
      while (calls.filter(({ closed }) => closed).length < 150) await new Promise((resolve) => session.ping(resolve));
      expect(server.connections.budgets.bytes).to.be.at.most(clientGroups.others.maxClientBytes);
      session.destroy();
      expect(countOf(await outcomes, status.UNAVAILABLE)).to.be.at.least(150);
    });

    it('The limits of clients with an identity count more than one byte for a frame with one byte', async () => {
      const session = await openSession(server.port, 'ipledger://operator/me');
      const call = begin(session, SubnetsService.applySubnet.path);
      for (const byte of frameMessage(Buffer.alloc(2_000)).subarray(0, 1_000))
        // waits until the byte is sent
        await new Promise((resolve) => call.write(Buffer.from([byte]), resolve));
      await new Promise((resolve) => session.ping(resolve));
      expect(server.connections.budgets.bytes).to.be.at.least(1_000 * 256);
    });

    it('The limits of clients with an identity refuse a request that has not arrived after 30 s', async () => {
      const session = await openSession(server.port, 'ipledger://agent/node-1');
      const calls = [0, 1].map(() => begin(session, IpamService.listBindings.path));
      for (const call of calls) void sendUnfinished(call, 100);
      const outcomes = Promise.all(calls.map(outcome));
      await new Promise((resolve) => session.ping(resolve));
      server.connections.sweep(performance.now() + 29_000);
      await new Promise((resolve) => session.ping(resolve));
      expect(calls.some(({ closed }) => closed)).to.equal(false);
      server.connections.sweep(performance.now() + 31_000);
      expect(await outcomes).to.deep.equal([status.DEADLINE_EXCEEDED, status.DEADLINE_EXCEEDED]);
    });

    it('The limits of clients with an identity keep one unread reply for each stream, and refuse streams beyond 32 and replies beyond 24 MiB', async () => {
      const session = await openSession(server.port, 'ipledger://viewer');
      await listBindings(session); // identifies
      const calls = Array.from({ length: 40 }, () => {
        const call = begin(session, LedgerService.export.path);
        return call.end(frameMessage(Buffer.alloc(0))).pause();
      });
      const outcomes = await Promise.all(calls.map(firstStatus));
      expect(countOf(outcomes, status.UNAVAILABLE)).to.be.at.least(
        40 - Math.floor(clientGroups.others.maxClientBytes / (2 * replyBytes)),
      );
      expect(server.connections.budgets.bytes).to.be.at.most(clientGroups.others.maxClientBytes);
      expect(server.handled.length).to.be.at.most(1 + 32);
    });

    it('The limits of clients with an identity refuse more than 32 streams of events of a client, on all its connections together', async () => {
      const outcomes: Promise<number>[] = [];
      for (let opening = 0; opening < 2; opening++) {
        const session = await openSession(server.port, 'ipledger://viewer');
        for (let count = 0; count < 20; count++) {
          const call = begin(session, LedgerService.watch.path);
          call.end(frameMessage(Buffer.alloc(0)));
          outcomes.push(firstStatus(call));
        }
      }
      const statuses = await Promise.all(outcomes);
      expect([countOf(statuses, status.OK), countOf(statuses, status.UNAVAILABLE)]).to.deep.equal([32, 8]);
    });

    it('The limits of clients with an identity close more than 64 connections of a client', async () => {
      const ends: Promise<unknown>[] = [];
      for (let count = 0; count < 66; count++) {
        const session = await openSession(server.port, 'ipledger://viewer');
        const call = begin(session, LedgerService.getStatus.path);
        call.end(frameMessage(Buffer.alloc(0)));
        if (count >= 64) ends.push(once(session, 'close'));
        expect(await outcome(call)).to.equal(count < 64 ? status.OK : status.UNAVAILABLE);
      }
      await Promise.all(ends);
    });

    it('The limits of clients with an identity release the memory of ended calls and closed connections', async () => {
      const session = await openSession(server.port, 'ipledger://agent/node-1');
      const calls = Array.from({ length: 50 }, () => begin(session, IpamService.wait.path));
      for (const call of calls) call.end(frameMessage(Buffer.alloc(0)));
      while (server.handled.length < 50) await new Promise((resolve) => session.ping(resolve));
      expect(server.connections.budgets.bytes).to.be.at.least(50 * 8_192);
      for (const call of calls.slice(0, 25)) call.close(8);
      session.destroy();
      while (server.connections.budgets.clientCount > 0) await new Promise(setImmediate);
      expect(server.connections.budgets.bytes).to.equal(0);
    });
  });

  it('the server reads the certificate of a client once per connection', async () => {
    server = await startLimitedServer(tls);
    const { getPeerCertificate } = TLSSocket.prototype;
    let read = 0;
    TLSSocket.prototype.getPeerCertificate = function (this: TLSSocket, ...args: []) {
      read++;
      return getPeerCertificate.apply(this, args);
    } as typeof getPeerCertificate;
    try {
      const session = await openSession(server.port, 'ipledger://viewer');
      read = 0;
      for (let count = 0; count < 5; count++) expect(await listBindings(session)).to.equal(status.OK);
    } finally {
      TLSSocket.prototype.getPeerCertificate = getPeerCertificate;
    }
    expect(read).to.equal(1);
  });

  it('limits of tokens apply to a connection, and not to each call', async () => {
    const seen = new Set<object>();
    const authenticate: TokenAccess['authenticate'] = (token, connection) =>
      tokens.authenticate(token, seen.add(connection));
    server = await startLimitedServer(tls, { authenticate });
    for (const session of [await openSession(server.port), await openSession(server.port)])
      for (let count = 0; count < 3; count++)
        expect(await listBindings(session, { authorization: 'Bearer agent.to.ken' })).to.equal(status.OK);
    expect(seen.size).to.equal(2);
  });

  it('identity, permission and rate are checked before any byte of the request is read', async () => {
    const refuseAgents = ({ kind }: Identity): void => {
      if (kind === 'agent') throw new IpledgerError('RATE_LIMITED', 'its rate is used up');
    };
    server = await startLimitedServer(tls, tokens, refuseAgents);
    for (const [identity, path, expected] of [
      [undefined, IpamService.listBindings.path, status.UNAUTHENTICATED],
      ['ipledger://viewer', IpamService.listBindings.path, status.INVALID_ARGUMENT],
      ['ipledger://viewer', SubnetsService.applySubnet.path, status.PERMISSION_DENIED],
      ['ipledger://agent/node-1', SubnetsService.applySubnet.path, status.PERMISSION_DENIED],
      ['ipledger://agent/node-1', IpamService.listBindings.path, status.RESOURCE_EXHAUSTED],
    ] as const) {
      const call = begin(await openSession(server.port, identity), path);
      if (expected === status.INVALID_ARGUMENT) void sendUnfinished(call, 30_000);
      expect(await outcome(call), `${identity} ${path}`).to.equal(expected);
    }
    expect(server.handled).to.deep.equal([]);
  });

  it('limits without TLS apply to each connection', async () => {
    server = await startLimitedServer(undefined);
    const sessions = await Promise.all([0, 1].map(() => openSession(server.port, undefined, 'http')));
    for (const session of sessions) {
      const call = begin(session, LedgerService.getStatus.path);
      call.end(frameMessage(Buffer.alloc(0)));
      expect(await outcome(call)).to.equal(status.OK);
    }
    expect(server.connections.unidentifiedCount).to.equal(0);
    expect(server.connections.budgets.clientCount).to.equal(2);
  });

  it('limits keep the memory of a process low while 500 streams of 1 MiB and clients without identity attack it', async () => {
    server = await startLimitedServer(undefined); // for afterEach
    const self = await certificate('ipledger://allocator/self');
    const program = fileURLToPath(new URL('testing/limited-server.ts', import.meta.url));
    const env = { ...process.env, SERVER_CA: authority.cert, SERVER_CERT: self.cert, SERVER_KEY: self.key };
    const child = fork(program, { env, execArgv: [] });
    opened.push({ destroy: () => child.kill('SIGKILL') });
    const usageOf = async (): Promise<{ rss: number; bytes: number }> => {
      child.send('usage');
      const [usage] = (await once(child, 'message')) as [{ rss: number; bytes: number }];
      return usage;
    };
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    const before = await usageOf();
    for (let opening = 0; opening < 5; opening++) {
      const session = await openSession(port, 'ipledger://operator/me');
      void sendUnfinished(begin(session, SubnetsService.applySubnet.path), 1_000);
      await new Promise((resolve) => session.ping(resolve));
      const calls = Array.from({ length: 100 }, () => begin(session, LedgerService.verify.path));
      const sent = Promise.all(calls.map((call) => sendUnfinished(call, 1_000_000)));
      const stranger = await openSession(port);
      const headers = { authorization: 'Bearer pending.to.ken', 'x-large': 'x'.repeat(3_000) };
      for (let count = 0; count < 100; count++)
        void sendUnfinished(begin(stranger, SubnetsService.applySubnet.path, headers), MiB);
      await new Promise((resolve) => stranger.ping(resolve));
      await sent;
    }
    const after = await usageOf();
    expect(after.bytes).to.be.at.most(clientGroups.others.maxClientBytes + clientGroups.unidentified.maxClientBytes);
    expect((after.rss - before.rss) / MiB).to.be.below(200);
  });
});
