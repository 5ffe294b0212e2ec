/**
 * A bad network between a client and a server on loopback: a TCP proxy that cuts connections, holds up or swallows what goes
 * one way or both. What it does concerns all connections, those there are and those to come, until `mend`.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Run } from './run.ts';

/** Which way: from the client to the server, or back. */
export type Way = 'requests' | 'replies';

export interface Proxy {
  /** "127.0.0.1:<port>", where it stands in for the server. */
  readonly endpoint: string;
  /** How many connections go through it now. */
  readonly connections: number;
  /** How many bytes it has swallowed so far. */
  readonly swallowedBytes: number;
  /** Ends all connections at once; new ones are made as before. */
  cut(): void;
  /** Bytes that go this way (without one: both) are lost; the connections look alive. */
  swallow(way?: Way): void;
  /** Bytes that go this way (without one: both) wait, and are delivered by `mend`. */
  hold(way?: Way): void;
  /** Nobody is let in any more, as if the server were down; those who are in stay. */
  refuse(): void;
  /** All is well again. A connection that lost bytes is cut: it could never go on. */
  mend(): void;
}

interface Connection {
  readonly sockets: Readonly<Record<Way, Socket>>;
  /** It lost bytes. */
  broken: boolean;
}

const both: readonly Way[] = ['requests', 'replies'];
const waysOf = (way: Way | undefined): readonly Way[] => (way === undefined ? both : [way]);

/** Starts a proxy before "host:port"; it ends with the run. */
export async function startProxy(run: Run, target: string): Promise<Proxy> {
  const [host = '', port = ''] = target.replace(/^http:\/\//, '').split(':');
  const connections = new Set<Connection>();
  const swallowed = new Set<Way>();
  const held = new Set<Way>();
  let refusing = false;
  let swallowedBytes = 0;

  const end = (connection: Connection): void => {
    connections.delete(connection);
    for (const way of both) connection.sockets[way].destroy();
  };
  const forward = (connection: Connection, way: Way): void => {
    const from = connection.sockets[way];
    const to = connection.sockets[way === 'requests' ? 'replies' : 'requests'];
    from.setNoDelay(true);
    from.on('data', (bytes) => {
      if (swallowed.has(way)) {
        connection.broken = true;
        swallowedBytes += bytes.length;
      } else if (!to.write(bytes)) {
        from.pause();
        to.once('drain', () => held.has(way) || from.resume());
      }
    });
    from.on('error', () => end(connection));
    from.on('close', () => end(connection));
    if (held.has(way)) from.pause();
  };

  const server = createServer((client) => {
    if (refusing) {
      client.resetAndDestroy();
      return;
    }
    const connection = { sockets: { requests: client, replies: connect(Number(port), host) }, broken: false };
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
    get swallowedBytes() {
      return swallowedBytes;
    },
    cut,
    swallow: (way) => {
      for (const each of waysOf(way)) swallowed.add(each);
    },
    hold(way) {
      for (const each of waysOf(way)) {
        held.add(each);
        for (const { sockets } of connections) sockets[each].pause();
      }
    },
    refuse: () => {
      refusing = true;
    },
    mend() {
      refusing = false;
      swallowed.clear();
      held.clear();
      for (const connection of connections)
        if (connection.broken) end(connection);
        else for (const way of both) connection.sockets[way].resume();
    },
  };
}
