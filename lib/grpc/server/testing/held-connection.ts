/** Test support: an HTTP/2 connection without a socket, on which the server can be kept waiting. */
import { once } from 'node:events';
import { type ClientHttp2Session, connect, createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import { duplexPair } from 'node:stream';
import type { Server } from '@grpc/grpc-js';
import { ClientConnections } from '../client-connections.ts';

export interface HeldConnection extends Disposable {
  readonly connections: ClientConnections;
  /** Emits `stream` for each call, after the limits have counted it. */
  readonly server: Http2Server;
  readonly client: ClientHttp2Session;
  /** Keeps what the server sends from the client, as a client does that reads nothing. */
  hold(): Promise<void>;
  release(): void;
}

export async function openHeldConnection(): Promise<HeldConnection> {
  const connections = new ClientConnections(false);
  const factory = { createHttp2Server: () => createServer() };
  connections.limit(factory as unknown as Server);
  const server = factory.createHttp2Server();
  const [near, far] = duplexPair();
  const write = far._write.bind(far);
  let held: (() => void)[] | undefined;
  far._write = (...args) => {
    if (held) held.push(() => write(...args));
    else write(...args);
  };
  const opened = once(server, 'session');
  server.emit('connection', far);
  const client = connect('http://localhost', { createConnection: () => near });
  const [session] = (await opened) as [ServerHttp2Session];
  await once(client, 'remoteSettings');
  return {
    connections,
    server,
    client,
    async hold() {
      held = [];
      // Begins a write that does not end: later frames stay in the queue of HTTP/2.
      session.ping(() => undefined);
      while (held.length === 0) await new Promise(setImmediate);
    },
    release() {
      const waiting = held ?? [];
      held = undefined;
      for (const each of waiting) each();
    },
    [Symbol.dispose]() {
      client.destroy();
      session.destroy();
      server.close();
      server.emit('close');
    },
  };
}
