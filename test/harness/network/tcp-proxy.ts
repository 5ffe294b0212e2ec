/**
 * A TCP proxy that simulates network faults on loopback: it cuts connections, and delays or drops
 * bytes in one or both directions. A fault applies to present and future connections, until
 * `restore`.
 */
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import type { TlsFiles } from '../../../lib/tls/certificates.ts';
import type { Run } from '../run.ts';

/** A direction: from the client to the server, or back. */
export type Direction = 'requests' | 'replies';

export interface TcpProxy {
  /** "127.0.0.1:<port>". Clients use it instead of the server. */
  readonly endpoint: string;
  /** Number of open connections. */
  readonly connections: number;
  /** Number of bytes dropped so far. */
  readonly droppedBytes: number;
  /** The serial number of the client's certificate on each connection with `tls`, in order. */
  readonly clientSerials: readonly string[];
  /** Sends new connections to another server; ends the present ones. */
  setTarget(target: string): void;
  /**
   * Closes all connections immediately. New connections work; with `tls`, the files are read again.
   */
  cut(): void;
  /** Drops all bytes in a direction (default: both). The connections stay open. */
  dropBytes(way?: Direction): void;
  /** Delays all bytes in a direction (default: both) until `restore`. */
  delayBytes(way?: Direction): void;
  /** Refuses new connections, as if the server were down. Open connections stay. */
  refuse(): void;
  /** Ends all faults. Closes each connection that lost bytes, because its stream is incomplete. */
  restore(): void;
  /** Closes the port and all connections. */
  close(): void;
}

export interface TcpProxyOptions {
  /** Changes a piece of a client's bytes on the way to the server. */
  readonly change?: (text: string) => string;
  /**
   * Keys of both sides of mutual TLS: those that clients trust, and those that the server trusts.
   */
  readonly tls?: { readonly server: TlsFiles; readonly client: TlsFiles };
}

interface Connection {
  readonly sockets: Readonly<Record<Direction, Socket>>;
  /** Whether the connection lost bytes. */
  isBroken: boolean;
}

const both: readonly Direction[] = ['requests', 'replies'];
const waysOf = (way: Direction | undefined): readonly Direction[] => (way === undefined ? both : [way]);

/**
 * Starts a proxy on loopback, which ends with the run.
 * @param target "host:port", "http://host:port" or "unix:/path"; undefined: connections are closed
 * until `setTarget`
 */
export async function startTcpProxy(run: Run, target?: string, options: TcpProxyOptions = {}): Promise<TcpProxy> {
  const { tls } = options;
  const mutual = { ALPNProtocols, requestCert: true, rejectUnauthorized: true };
  const server = tls ? createTlsServer({ ...readPems(tls.server), ...mutual }) : createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy = proxyConnections(server, target, options);
  run.onEnd(() => proxy.close());
  return proxy;
}

/**
 * Forwards the connections of a server that listens already.
 * @param target as that of `startTcpProxy`
 */
export function proxyConnections(
  server: Server,
  target: string | undefined,
  { change, tls }: TcpProxyOptions = {},
): TcpProxy {
  const connections = new Set<Connection>();
  const dropped = new Set<Direction>();
  const delayed = new Set<Direction>();
  const clientSerials: string[] = [];
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
      } else if (!to.write(change && way === 'requests' ? change(bytes.toString()) : bytes)) {
        from.pause();
        to.once('drain', () => delayed.has(way) || from.resume());
      }
    });
    from.on('error', () => end(connection));
    from.on('close', () => end(connection));
    if (delayed.has(way)) from.pause();
  };
  const accept = (client: Socket): void => {
    if (isRefusing || target === undefined) {
      client.resetAndDestroy();
      return;
    }
    const connection = { sockets: { requests: client, replies: dial(target, tls?.client) }, isBroken: false };
    connections.add(connection);
    for (const way of both) forward(connection, way);
  };
  if (tls)
    (server as TlsServer).on('secureConnection', (client) => {
      clientSerials.push(client.getPeerCertificate().serialNumber);
      accept(client);
    });
  else server.on('connection', accept);

  const endConnections = (): void => {
    for (const connection of connections) end(connection);
  };
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections.size;
    },
    get droppedBytes() {
      return droppedBytes;
    },
    clientSerials,
    setTarget(next) {
      target = next;
      endConnections();
    },
    cut() {
      if (tls) (server as TlsServer).setSecureContext(readPems(tls.server));
      endConnections();
    },
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
    close() {
      endConnections();
      server.close();
    },
  };
}

const ALPNProtocols = ['h2'];

const readPems = ({ ca, cert, key }: TlsFiles) => ({
  ca: readFileSync(ca),
  cert: readFileSync(cert),
  key: readFileSync(key),
});

function dial(target: string, client: TlsFiles | undefined): Socket {
  const [host = '', port = ''] = target.replace(/^http:\/\//, '').split(':');
  const address = target.startsWith('unix:') ? { path: target.slice('unix:'.length) } : { host, port: Number(port) };
  if (!client) return connect(address);
  // The proxy trusts its target: it is the server of the test.
  const trust = { checkServerIdentity: () => undefined, rejectUnauthorized: false };
  return connectTls({ ...address, ...readPems(client), ALPNProtocols, ...trust });
}
