import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { IpamService } from '../../../proto/generated/ipledger.ts';
import { issueCertificate, openAuthority } from '../../../test/harness/certificates/certificate-authority.ts';
import { loadTls, type Tls } from '../../tls/credentials.ts';
import type { Identity } from '../../tls/identity.ts';
import { frameMessage } from '../http2/connect.ts';
import { type LimitedServer, startLimitedServer } from './testing/limited-server.ts';

const identities = {
  viewer: { kind: 'viewer', name: '', uri: 'ipledger://viewer' },
  agent: { kind: 'agent', name: 'node-1', uri: 'ipledger://agent/node-1' },
} as const satisfies Record<string, Identity>;

describe('The calls of a connection', () => {
  let folder: string;
  let tls: Tls;
  let server: LimitedServer;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-calls-'));
    const authority = await openAuthority(folder);
    const certificate = { name: 'self', commonName: 'x', alternativeNames: ['URI:ipledger://allocator/self'] };
    tls = loadTls({ ca: authority.cert, ...(await issueCertificate(authority, certificate)) });
  });
  after(() => rmSync(folder, { recursive: true }));
  afterEach(() => server[Symbol.dispose]());

  const begin = (session: ClientHttp2Session, who: string): ClientHttp2Stream =>
    session
      .request({
        ':method': 'POST',
        ':path': IpamService.listBindings.path,
        'content-type': 'application/grpc',
        te: 'trailers',
        authorization: `Bearer ${who}.to.ken`,
      })
      .on('error', () => undefined);

  for (const [who, atMost] of [
    ['viewer', 100],
    ['agent', 1_024],
  ] as const)
    it(`at most ${atMost} calls of a connection of ${who === 'agent' ? 'an agent' : 'a viewer'} arrive, and the others wait in the client`, async () => {
      server = await startLimitedServer(tls, { authenticate: () => Promise.resolve(identities[who]) });
      const session = connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
      session.on('error', () => undefined);
      await once(session, 'remoteSettings');
      const first = begin(session, who);
      first.end(frameMessage(IpamService.listBindings.requestSerialize({ node: 'node-1' })));
      await once(first.resume(), 'close');
      for (let count = 0; count < 1_100; count++) begin(session, who);
      await new Promise((resolve) => session.ping(resolve));
      const { budgets } = server.connections;
      const arrived = budgets.bytes / 16_384;
      session.destroy();
      while (budgets.clientCount > 0) await new Promise(setImmediate);
      // Each call counts 16 KiB and its headers.
      expect(arrived).to.be.within(atMost, 1.05 * atMost);
    });

  it('at most 16 calls of a connection arrive before its first identity, and the others wait in the client', async () => {
    server = await startLimitedServer(tls, { authenticate: () => new Promise(() => undefined) });
    const session = connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
    session.on('error', () => undefined);
    await once(session, 'remoteSettings');
    const calls = Array.from({ length: 90 }, () => begin(session, 'unknown'));
    await new Promise((resolve) => session.ping(resolve));
    // Each call counts 16 KiB and its headers.
    expect(server.connections.budgets.bytes / 16_384).to.be.within(16, 17);
    expect(calls.some(({ closed }) => closed)).to.equal(false);
    session.destroy();
  });

  it('an agent that reconnects with 500 calls at once gets a reply to each', async () => {
    server = await startLimitedServer(tls, { authenticate: () => Promise.resolve(identities.agent) });
    const session = connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
    session.on('error', () => undefined);
    await once(session, 'remoteSettings');
    const ends = Array.from({ length: 500 }, async () => {
      const stream = begin(session, 'agent');
      stream.end(frameMessage(IpamService.listBindings.requestSerialize({ node: 'node-1' })));
      await once(stream.resume(), 'close');
    });
    await Promise.all(ends);
    expect(server.handled).to.have.length(500);
    session.destroy();
  });
});
