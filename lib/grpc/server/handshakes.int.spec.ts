/** Shows that the limits of TLS handshakes apply to the HTTP/2 server that grpc-js creates. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { issueCertificate, openAuthority } from '../../../test/harness/certificates/certificate-authority.ts';
import { loadTls } from '../../tls/credentials.ts';
import { handshakeGauge } from '../../tls/handshake-limits.ts';
import { type LimitedServer, startLimitedServer } from './testing/limited-server.ts';

describe('The TLS handshakes of a gRPC server', () => {
  let folder: string;
  let server: LimitedServer;
  let client: { readonly cert: Buffer; readonly key: Buffer };
  const opened: { destroy(): void }[] = [];

  before(async () => {
    // No handshake here ends because it takes long: a handshake in an overloaded process does.
    mock.timers.enable({ apis: ['setInterval'] });
    folder = mkdtempSync(join(tmpdir(), 'ipledger-handshakes-'));
    const authority = await openAuthority(folder);
    const issue = (name: string, uri: string) =>
      issueCertificate(authority, { name, commonName: 'x', alternativeNames: [`URI:${uri}`] });
    const { cert, key } = await issue('viewer', 'ipledger://viewer');
    client = { cert: readFileSync(cert), key: readFileSync(key) };
    server = await startLimitedServer(
      loadTls({ ca: authority.cert, ...(await issue('self', 'ipledger://allocator/self')) }),
    );
  });
  after(() => {
    for (const each of opened) each.destroy();
    server[Symbol.dispose]();
    mock.timers.reset();
    rmSync(folder, { recursive: true });
  });

  function beginHandshake() {
    const socket = connectTcp(server.port, '127.0.0.1');
    opened.push(socket.on('error', () => undefined));
    // The begin of a message that never ends.
    socket.write('\x16\x03\x01\x3f\xff', 'latin1');
    return socket;
  }

  /** Waits until the server has so many connections, and those beyond the eighth wait. */
  async function untilCounted(count: number): Promise<void> {
    const isReached = () => server.connections.unidentifiedCount === count && handshakeGauge.read() === count - 8;
    while (!isReached()) await new Promise(setImmediate);
  }

  it('a gRPC server lets the ninth handshake of an address wait', async () => {
    for (let count = 0; count < 9; count++) beginHandshake();
    await untilCounted(9);
    for (const each of opened.splice(0)) each.destroy();
    while (handshakeGauge.read() !== 0) await new Promise(setImmediate);
  });

  it('a connection from the port of one that was reset while it waited counts after the end of that one', async () => {
    const { connections, port } = server;
    const underWay = Array.from({ length: 8 }, () => beginHandshake());
    const earlier = beginHandshake();
    await untilCounted(9);
    const { localPort = 0 } = earlier;
    // The server does not read from a connection that waits, and does not see this.
    earlier.resetAndDestroy();
    await once(earlier, 'close');
    const socket = connectTcp({ host: '127.0.0.1', port, localPort });
    await once(socket, 'connect');
    const later = connect({ socket, rejectUnauthorized: false, ...client });
    opened.push(later.on('error', () => undefined).resume());
    await untilCounted(10);
    for (const each of underWay) each.destroy();
    await once(later, 'secureConnect');
    while (connections.unidentifiedCount > 1) await new Promise(setImmediate);
    expect(connections.unidentifiedCount).to.equal(1);
  });

  it('a gRPC server renegotiates with no client of TLS 1.2', async () => {
    const options = { rejectUnauthorized: false, maxVersion: 'TLSv1.2', ALPNProtocols: ['h2'], ...client } as const;
    const socket = connect({ host: '127.0.0.1', port: server.port, ...options });
    opened.push(socket.on('error', () => undefined).resume());
    await once(socket, 'secureConnect');
    const ended = new Promise((resolve) => socket.once('close', resolve));
    let isRenewed = false;
    socket.renegotiate({}, () => (isRenewed = true));
    await ended;
    expect(isRenewed).to.equal(false);
  });
});
