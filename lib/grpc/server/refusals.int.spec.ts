/** Limits the cost of refused calls: a client that repeats them has to wait for the answers. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { IpledgerError } from '../../errors.ts';
import { loadTls } from '../../tls/credentials.ts';
import { issueCertificate, openAuthority } from '../../../test/harness/certificates/certificate-authority.ts';
import { IpamService } from '../../../proto/generated/ipledger.ts';
import { call, connect as connectByGrpc } from '../client.ts';
import { connect as connectByHttp2 } from '../http2/connect.ts';
import { clientGroups } from './client-budgets.ts';
import { type LimitedServer, startLimitedServer } from './testing/limited-server.ts';

const now = performance.now.bind(performance);

for (const [kind, connect] of [
  ['grpc-js', connectByGrpc],
  ['HTTP/2', connectByHttp2],
] as const)
  it(`each call of a client over its limit of bytes fails with OVERLOADED, also when its connection ends, on ${kind}`, async () => {
    using limited = await startLimitedServer(undefined);
    const connection = connect(`127.0.0.1:${limited.port}`, undefined);
    const list = () => call(connection, IpamService.listBindings, { node: 'node-1' }, { timeoutMs: 30_000 });
    try {
      await list();
      limited.connections.budgets.take = () => false;
      // More than are answered at once and may wait.
      const calls = Array.from({ length: 100 }, () => list().catch((error: unknown) => IpledgerError.from(error).code));
      expect(new Set(await Promise.all(calls))).to.deep.equal(new Set(['OVERLOADED']));
    } finally {
      connection.close();
    }
  });

describe('Refused calls', function () {
  this.timeout(60_000);
  let folder: string;
  let server: LimitedServer;
  let session: ClientHttp2Session;
  let open: (headers?: object) => ClientHttp2Stream;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-refusals-'));
    const authority = await openAuthority(folder);
    const issue = (name: string, uri: string) =>
      issueCertificate(authority, { name, commonName: 'x', alternativeNames: [`URI:${uri}`] });
    const agent = await issue('agent', 'ipledger://agent/node-1');
    const tls = loadTls({ ca: authority.cert, ...(await issue('self', 'ipledger://allocator/self')) });
    server = await startLimitedServer(tls, undefined, () => {
      throw new IpledgerError('RATE_LIMITED', 'too many: try again in a second');
    });
    session = connect(`https://127.0.0.1:${server.port}`, {
      rejectUnauthorized: false,
      cert: readFileSync(agent.cert),
      key: readFileSync(agent.key),
    });
    session.on('error', () => {});
    await once(session, 'remoteSettings');
    const path = IpamService.listBindings.path;
    open = (headers) =>
      session
        .request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...headers })
        .on('error', () => {})
        .resume();
    // Stops the clock, so that the number of answers does not depend on the machine.
    performance.now = () => 0;
  });
  after(() => {
    performance.now = now;
    session.destroy();
    server[Symbol.dispose]();
    rmSync(folder, { recursive: true });
  });

  const ping = (): Promise<unknown> => new Promise((resolve) => session.ping(resolve));

  for (const [what, headers] of [
    ['over a rate', {}],
    ['over a limit of requests', { 'grpc-encoding': 'gzip' }],
  ] as const)
    it(`${what} are answered at once if they are few, and the rest a second later`, async () => {
      const calls = Array.from({ length: 60 }, () => open(headers));
      const closes = calls.map((call) => once(call, 'close'));
      for (let count = 0; count < 10; count++) await ping();
      expect(calls.filter(({ closed }) => closed)).to.have.length.within(0, 20);
      await Promise.all(closes);
    });

  it("more than 64 refused calls beyond a client's limit of bytes end its connection", async () => {
    const closed = once(session, 'close');
    // Other calls use up the bytes of the client.
    const { budgets } = server.connections;
    budgets.add(budgets.of('ipledger://agent/node-1', 'others'), clientGroups.others.maxClientBytes);
    for (let count = 0; count < 65; count++) open();
    await closed;
  });
});
