/**
 * Limits the connections of a server, with and without an identity. grpc-js has no options for most
 * of these limits, so they are set on its HTTP/2 server. An int spec fails if a new version of
 * grpc-js or Node creates servers and streams in another way.
 */
import {
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Server, ServerCredentials } from '@grpc/grpc-js';
import { IpledgerError } from '../../errors.ts';
import { ConnectionSlots } from '../../net/connection-slots.ts';
import { connectionKey, limitHandshakes } from '../../tls/handshake-limits.ts';
import type { Identity, IdentityKind } from '../../tls/identity.ts';
import { ArrivingCall, type CallConnection, endOverloaded } from './arriving-call.ts';
import { type ClientBudget, ClientBudgets } from './client-budgets.ts';

/** The most connections without an identity. Then the client with most loses its oldest one. */
const maxUnidentified = 1_024;
/** The time in which a new connection must send a call with an identity. */
const identityMs = 30_000;
/** The time in which a request must arrive. */
const receiveMs = 30_000;
const sweepMs = 1_000;
const maxConnectionsOfClient = 64;
/** The headers of a call with a token of usual size. */
const usualHeaderBytes = 4_096;
/** The most headers of a connection without an identity: ten calls with the largest tokens. */
const maxUnusualHeaderBytes = 131_072;
/** The limit as HTTP/2 counts it. `ArrivingCall` has a lower limit. */
const maxHeaderListSize = 32_768;
/**
 * The most calls of an unidentified connection. All calls that a connection sends at once arrive in
 * one turn of the event loop, 0.3 ms each. A client that sends more before it knows the limit gets
 * REFUSED_STREAM for the rest, which Node answers without an event.
 */
const maxUnidentifiedCalls = 16;
/**
 * The most calls of a connection with an identity. A standby forwards those of all its clients. A
 * viewer and a Kubernetes user read a page at a time.
 */
const maxCalls = { allocator: 4_096, readers: 100, others: 1_024 };

type AnyHttp2Server = Http2Server | Http2SecureServer;

/** The method of grpc-js that creates servers. */
interface Http2ServerFactory {
  createHttp2Server(credentials: ServerCredentials): AnyHttp2Server;
}

interface Accepted {
  readonly socket: Socket;
  readonly timer: NodeJS.Timeout;
}

/** The property of a stream that holds its call. */
const arrivingCall = Symbol('arrivingCall');
type TaggedStream = ServerHttp2Stream & { [arrivingCall]?: ArrivingCall };

/** The call on a stream of a server with limits. */
export const callOn = (stream: ServerHttp2Stream): ArrivingCall | undefined => (stream as TaggedStream)[arrivingCall];

export class ClientConnections {
  readonly budgets = new ClientBudgets();
  readonly #isTls: boolean;
  readonly #unidentified = new ConnectionSlots(maxUnidentified);
  readonly #accepted = new Map<string, Accepted>();
  readonly #connections = new Map<ServerHttp2Session, Connection>();
  /** The calls that are arriving, in order of arrival. */
  readonly #receiving = new Set<ArrivingCall>();

  constructor(isTls: boolean) {
    this.#isTls = isTls;
  }

  /** The number of connections without an identity. */
  get unidentifiedCount(): number {
    return this.#unidentified.count;
  }

  /** Ends all connections. Calls in progress are answered, and clients connect again. */
  end(): void {
    for (const session of this.#connections.keys()) session.close();
  }

  /** Sets the limits on each address on which a server will listen. */
  limit(server: Server): void {
    const factory = server as unknown as Http2ServerFactory;
    const create = factory.createHttp2Server.bind(server);
    factory.createHttp2Server = (credentials) => {
      const http2Server = create(credentials);
      this.#limit(http2Server);
      return http2Server;
    };
  }

  /**
   * Refuses calls whose request has not arrived in time, and resets those that are answered.
   * @param now time of performance.now()
   */
  sweep(now: number): void {
    for (const call of this.#receiving) {
      if (!call.isReceiving) {
        this.#receiving.delete(call);
        continue;
      }
      call.resetUnread();
      if (now - call.openedAt < receiveMs) continue;
      call.disconnect();
      call.refuse(new IpledgerError('DEADLINE_PASSED', `the request did not arrive within ${receiveMs / 1_000} s`));
    }
  }

  #limit(http2Server: AnyHttp2Server): void {
    if ('setSecureContext' in http2Server) limitHandshakes(http2Server);
    http2Server.updateSettings({ maxConcurrentStreams: maxUnidentifiedCalls, maxHeaderListSize });
    // Before the listener of Node, which creates the session of a plaintext connection.
    http2Server.prependListener('connection', (socket: Socket) => this.#accept(socket));
    http2Server.on('session', (session) => this.#connectionOf(session));
    http2Server.prependListener('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) =>
      this.#open(stream, headers),
    );
    const sweep = setInterval(() => this.sweep(performance.now()), sweepMs).unref();
    http2Server.once('close', () => clearInterval(sweep));
  }

  #accept(socket: Socket): void {
    const key = connectionKey(socket);
    const timer = setTimeout(() => socket.destroy(), identityMs).unref();
    this.#accepted.set(key, { socket, timer });
    socket.once('close', () => {
      clearTimeout(timer);
      // A later connection of the client may have the port while this one waits and is not read.
      if (this.#accepted.get(key)?.socket === socket) this.#accepted.delete(key);
    });
    this.#unidentified.hold(socket);
  }

  /** Ends the limits for connections without an identity. */
  #forget(key: string): void {
    const { socket, timer } = this.#accepted.get(key) ?? {};
    this.#accepted.delete(key);
    clearTimeout(timer);
    if (socket) this.#unidentified.release(socket);
  }

  #connectionOf(session: ServerHttp2Session): Connection {
    const known = this.#connections.get(session);
    if (known) return known;
    const key = connectionKey(session.socket);
    const { budgets } = this;
    const client = this.#isTls
      ? budgets.of(`address ${session.socket.remoteAddress}`, 'unidentified')
      : budgets.of(key, 'anonymous');
    const connection = new Connection(session, budgets, client, () => this.#forget(key));
    this.#connections.set(session, connection);
    session.once('close', () => this.#connections.delete(session));
    return connection;
  }

  #open(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const session = stream.session as ServerHttp2Session | undefined;
    if (!session) return; // the connection has ended
    const call = new ArrivingCall(this.#connectionOf(session), stream, headers);
    (stream as TaggedStream)[arrivingCall] = call;
    if (!call.isReceiving) return;
    this.#receiving.add(call);
    stream.once('close', () => this.#receiving.delete(call));
  }
}

function maxCallsOf(kind: IdentityKind): number {
  if (kind === 'viewer' || kind === 'kubernetes-user') return maxCalls.readers;
  return kind === 'allocator' ? maxCalls.allocator : maxCalls.others;
}

class Connection implements CallConnection {
  readonly session: ServerHttp2Session;
  readonly budgets: ClientBudgets;
  client: ClientBudget;
  isIdentified = false;
  #unusualHeaderBytes = 0;
  readonly #onIdentified: () => void;

  constructor(session: ServerHttp2Session, budgets: ClientBudgets, client: ClientBudget, onIdentified: () => void) {
    this.session = session;
    this.budgets = budgets;
    this.client = client;
    this.#onIdentified = onIdentified;
    client.connections++;
    session.once('close', () => budgets.closeConnection(this.client));
    if (client.group === 'anonymous') this.#raise(maxCalls.allocator);
  }

  identify(identity: Identity): boolean {
    const verified = this.budgets.ofIdentity(identity);
    if (verified === this.client) return true;
    if (verified.connections >= maxConnectionsOfClient) return false;
    verified.connections++;
    this.budgets.closeConnection(this.client);
    this.client = verified;
    if (!this.isIdentified) this.#raise(maxCallsOf(identity.kind));
    return true;
  }

  countHeaders(bytes: number): void {
    this.#unusualHeaderBytes += Math.max(0, bytes - usualHeaderBytes);
    if (this.isIdentified || this.#unusualHeaderBytes <= maxUnusualHeaderBytes) return;
    setImmediate(endOverloaded, this.session);
  }

  #raise(maxConcurrentStreams: number): void {
    this.isIdentified = true;
    this.#onIdentified();
    // Raises the limit in the next turn: it would also hold for calls that have arrived in this
    // turn.
    setImmediate(() => {
      if (!this.session.closed && !this.session.destroyed) this.session.settings({ maxConcurrentStreams });
    });
  }
}
