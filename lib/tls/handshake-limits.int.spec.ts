import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectionOptions, createServer, type Server, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { issueCertificate, openAuthority } from '../../test/harness/certificates/certificate-authority.ts';
import { handshakeGauge, limitHandshakes, noRenegotiation } from './handshake-limits.ts';

describe('A server with limits of TLS handshakes', () => {
  let folder: string;
  let server: Server;
  let port: number;
  const accepted: Socket[] = [];
  const opened: { destroy(): void }[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-handshakes-'));
    const authority = await openAuthority(folder);
    const { cert, key } = await issueCertificate(authority, {
      name: 'self',
      commonName: 'x',
      alternativeNames: ['DNS:localhost'],
    });
    server = createServer({ cert: readFileSync(cert), key: readFileSync(key), ...noRenegotiation }, (socket) => {
      socket.on('error', () => undefined);
      socket.pipe(socket);
    });
    limitHandshakes(server);
    server.on('connection', (socket: Socket) => accepted.push(socket));
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterEach(() => {
    for (const each of opened.splice(0)) each.destroy();
    accepted.splice(0);
  });
  after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });

  function open(options: ConnectionOptions = {}): TLSSocket {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
    opened.push(socket.on('error', () => undefined));
    return socket;
  }

  it('a server with limits of TLS handshakes serves each of 100 connections of a client that arrive at once', async () => {
    const sockets = Array.from({ length: 100 }, () => open());
    await Promise.all(sockets.map((socket) => once(socket, 'secureConnect')));
    for (const socket of sockets) socket.write('hello');
    const echoes = await Promise.all(sockets.map((socket) => once(socket, 'data')));
    expect(new Set(echoes.map(String))).to.deep.equal(new Set(['hello']));
    expect(handshakeGauge.read()).to.equal(0);
  });

  it('the end of a client in its handshake, and a first message that is not TLS, close the connection', async () => {
    // More than may be under way, so each must leave its place to the next.
    for (const message of ['not TLS', '\x16\x03\x01\x00\xff', ''])
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          const socket = connectTcp({ port, host: '127.0.0.1' });
          opened.push(socket.on('error', () => undefined).resume());
          socket.end(message, 'latin1');
          await once(socket, 'close');
        }),
      );
    await once(open(), 'secureConnect');
  });

  it('connections that clients reset before the server accepts them are closed without an error', async () => {
    for (let round = 0; round < 10; round++)
      await Promise.all(
        Array.from({ length: 50 }, async () => {
          const socket = connectTcp({ port, host: '127.0.0.1' }).on('error', () => undefined);
          await once(socket, 'connect');
          socket.resetAndDestroy();
          await once(socket, 'close');
        }),
      );
    const count = (): Promise<number> =>
      new Promise((resolve) => server.getConnections((_error, connections) => resolve(connections)));
    while ((await count()) > 0) await new Promise(setImmediate);
    await once(open(), 'secureConnect');
  });

  it('a connection that waits holds no more than its first message', async () => {
    const sockets = Array.from({ length: 9 }, () => {
      const socket = connectTcp({ port, host: '127.0.0.1' });
      opened.push(socket.on('error', () => undefined).resume());
      // The begin of a message that never ends.
      socket.write('\x16\x03\x01\x3f\xff', 'latin1');
      return socket;
    });
    while (handshakeGauge.read() !== 1 || accepted.length < 9) await new Promise(setImmediate);
    const waiting = accepted.find(({ readableLength }) => readableLength > 0);
    const client = sockets.find(({ localPort }) => localPort === waiting?.remotePort);
    client?.write(Buffer.alloc(1 << 20));
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    expect(waiting?.readableLength).to.equal(5);
  });

  it('a client of TLS 1.2 cannot begin another handshake on its connection', async () => {
    const socket = open({ maxVersion: 'TLSv1.2' });
    await once(socket, 'secureConnect');
    const refused = new Promise((resolve) => socket.once('error', resolve));
    let isRenewed = false;
    socket.renegotiate({}, () => (isRenewed = true));
    expect(await refused).to.have.property('code', 'ERR_SSL_NO_RENEGOTIATION');
    expect(isRenewed).to.equal(false);
  });
});
