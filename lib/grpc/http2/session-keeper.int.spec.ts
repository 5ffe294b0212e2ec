import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { SessionKeeper } from './session-keeper.ts';

const keepalive = { keepaliveMs: 10, keepaliveTimeoutMs: 10, idleKeepaliveMs: 60_000 };
const emptySettings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

/** Starts a server that sends only the first frame of HTTP/2, and counts the connections. */
async function withHangingServer(
  use: (endpoint: string, sockets: readonly Socket[]) => Promise<void>,
  accept = (socket: Socket): void => void socket.write(emptySettings),
): Promise<void> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    accept(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use(`127.0.0.1:${(server.address() as AddressInfo).port}`, sockets);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

const failureOf = (opening: Promise<unknown>): Promise<unknown> =>
  opening.then(
    () => 'it was opened',
    (error: unknown) => error,
  );

describe('SessionKeeper', () => {
  it('SessionKeeper shares one connection, and ends it when the server does not reply to a ping', async () => {
    await withHangingServer(async (endpoint, sockets) => {
      const keeper = new SessionKeeper(endpoint, undefined, 'allocator', { keepalive });
      const [session, same] = await Promise.all([keeper.open(), keeper.open()]);
      expect(same).to.equal(session);
      await new Promise<void>((resolve) => (session.closed ? resolve() : session.once('close', resolve)));
      expect(await keeper.open()).not.to.equal(session);
      expect(sockets).to.have.length(2);
      keeper.close();
    });
  });

  it('SessionKeeper does not connect again immediately after a failure', async () => {
    await withHangingServer(
      async (endpoint, sockets) => {
        const keeper = new SessionKeeper(endpoint, undefined, 'allocator');
        const failure = await failureOf(keeper.open());
        expect(failure)
          .to.include({ code: 14 })
          .and.have.property('details')
          .that.contains('No connection established');
        expect(await failureOf(keeper.open())).to.equal(failure);
        expect(sockets).to.have.length(1);
      },
      (socket) => socket.destroy(),
    );
  });

  it('SessionKeeper ends its connections, and opens none, when it is closed', async () => {
    await withHangingServer(async (endpoint) => {
      const keeper = new SessionKeeper(endpoint, undefined, 'allocator');
      const session = await keeper.open();
      keeper.close();
      expect(session.destroyed).to.equal(true);
      expect(await failureOf(keeper.open()))
        .to.have.property('details')
        .that.contains('was closed here');
    });
  });
});
