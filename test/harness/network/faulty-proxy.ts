/**
 * A TCP proxy that simulates network faults on loopback: it cuts connections, and delays or drops bytes in one or both
 * directions. A fault applies to present and future connections, until `restore`.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Run } from '../run.ts';

/** From the client to the server, or back. */
export type Direction = 'requests' | 'replies';

export interface FaultyProxy {
  /** "127.0.0.1:<port>". Clients use it instead of the server. */
  readonly endpoint: string;
  /** Number of open connections. */
  readonly connections: number;
  /** Number of bytes dropped so far. */
  readonly droppedBytes: number;
  /** Closes all connections immediately. New connections work. */
  cut(): void;
  /** Drops all bytes in a direction (default: both). The connections stay open. */
  dropBytes(way?: Direction): void;
  /** Delays all bytes in a direction (default: both) until `restore`. */
  delayBytes(way?: Direction): void;
  /** Refuses new connections, as if the server were down. Open connections stay. */
  refuse(): void;
  /** Ends all faults. Closes each connection that lost bytes, because its stream is incomplete. */
  restore(): void;
}

interface Connection {
  readonly sockets: Readonly<Record<Direction, Socket>>;
  /** Whether it lost bytes. */
  isBroken: boolean;
}

const both: readonly Direction[] = ['requests', 'replies'];
const waysOf = (way: Direction | undefined): readonly Direction[] => (way === undefined ? both : [way]);

/** Starts a proxy to "host:port". It ends with the run. */
export async function startFaultyProxy(run: Run, target: string): Promise<FaultyProxy> {
  const [host = '', port = ''] = target.replace(/^http:\/\//, '').split(':');
  const connections = new Set<Connection>();
  const dropped = new Set<Direction>();
  const delayed = new Set<Direction>();
  let isRefusing = false;
  let droppedBytes = 0;

  const end = (connection: Connection): void => {
    connections.delete(connection);
    for (const way of both) connection.sockets[way].destroy();
  };
  const forward = (connection: Connection, way: Direction): void => {
    const from = connection.sockets[way];
    const to = connection.sockets[way === 'requests' ? 'replies' : 'requests'];
    from.setNoDelay(true);
    from.on('data', (bytes) => {
      if (dropped.has(way)) {
        connection.isBroken = true;
        droppedBytes += bytes.length;
      } else if (!to.write(bytes)) {
        from.pause();
        to.once('drain', () => delayed.has(way) || from.resume());
      }
    });
    from.on('error', () => end(connection));
    from.on('close', () => end(connection));
    if (delayed.has(way)) from.pause();
  };

  const server = createServer((client) => {
    if (isRefusing) {
      client.resetAndDestroy();
      return;
    }
    const connection = { sockets: { requests: client, replies: connect(Number(port), host) }, isBroken: false };
    connections.add(connection);
    for (const way of both) forward(connection, way);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const connection of connections) end(connection);
  };
  run.onEnd(() => {
    cut();
    server.close();
  });

  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections.size;
    },
    get droppedBytes() {
      return droppedBytes;
    },
    cut,
    dropBytes: (way) => {
      for (const each of waysOf(way)) dropped.add(each);
    },
    delayBytes(way) {
      for (const each of waysOf(way)) {
        delayed.add(each);
        for (const { sockets } of connections) sockets[each].pause();
      }
    },
    refuse: () => {
      isRefusing = true;
    },
    restore() {
      isRefusing = false;
      dropped.clear();
      delayed.clear();
      for (const connection of connections)
        if (connection.isBroken) end(connection);
        else for (const way of both) connection.sockets[way].resume();
    },
  };
}
