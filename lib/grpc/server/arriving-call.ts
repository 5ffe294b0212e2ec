/** One call on a server, from its headers to its end. What it holds is counted and limited. */
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { constants, type IncomingHttpHeaders } from 'node:http2';
import { IpledgerError } from '../../errors.ts';
import type { Identity } from '../../tls/identity.ts';
import type { ClientBudget, ClientBudgets } from './client-budgets.ts';
import { maxRequestBytesOf } from './request-limits.ts';

/** The memory of grpc-js and Node for a waiting call: 11 KiB of heap, 26 KiB resident. */
const callBytes = 16_384;
/** The overhead of each chunk in a buffer. */
const chunkBytes = 256;
/** A token has up to 16 KiB. */
const maxHeaderBytes = 24_576;
/** A message begins with its length. */
const prefixBytes = 5;
/** Replies up to this size exceed the limits, so that an executed command gets its answer. */
const smallReplyBytes = 16_384;

/** The least wait for each answer of a client with many refused calls. Errors name it. */
const refusalDelayMs = 1_000;
/** Refused calls of a client that wait beyond its limit of bytes. */
const maxUncounted = 64;

/** A connection, as its calls see it. */
export interface CallConnection {
  /** Who its calls count for. */
  client: ClientBudget;
  /** Whether a call on it had an identity. */
  isIdentified: boolean;
  readonly session: ServerHttp2Session;
  /** Ends a connection that has sent too many headers without an identity. */
  countHeaders(bytes: number): void;
  /** Counts the connection for an identity. Returns false beyond the limit of connections. */
  identify(identity: Identity): boolean;
  readonly budgets: ClientBudgets;
}

export class ArrivingCall {
  readonly path: string;
  readonly openedAt = performance.now();
  readonly #connection: CallConnection;
  readonly #stream: ServerHttp2Stream;
  #client: ClientBudget;
  /** All that it holds. */
  #held = 0;
  #received = 0;
  #maxRequestBytes: number;
  #isReceiving = true;
  #streams = 0;
  #refusal: IpledgerError | undefined;
  #isRefusalSent = false;
  #reject: ((error: IpledgerError) => void) | undefined;
  /** Whether its client is to be disconnected, unless it has identified. */
  #isRejected = true;

  constructor(connection: CallConnection, stream: ServerHttp2Stream, headers: IncomingHttpHeaders) {
    this.#connection = connection;
    this.#stream = stream;
    this.#client = connection.client;
    this.path = headers[':path'] ?? '';
    this.#maxRequestBytes = maxRequestBytesOf(this.path, undefined);
    const headerBytes = sizeOf(headers);
    const encoding = headers['grpc-encoding'] ?? 'identity';
    this.#take(callBytes + headerBytes);
    connection.countHeaders(headerBytes);
    if (headerBytes > maxHeaderBytes)
      this.refuse(
        new IpledgerError(
          'INVALID_REQUEST',
          `the metadata has ${headerBytes} bytes, and ${maxHeaderBytes} is the limit`,
        ),
      );
    // An inflated request would be work, and memory, for a client that is not known yet.
    if (encoding !== 'identity')
      this.refuse(new IpledgerError('NOT_IMPLEMENTED', 'compressed requests are not accepted: send them uncompressed'));
    this.#countData();
    stream.once('finish', () => this.#resetUnread());
    stream.once('close', () => this.#end());
  }

  /** The connection of the call, which may have ended. */
  get session(): ServerHttp2Session {
    return this.#connection.session;
  }

  /** Whether a part of its request is missing. */
  get isReceiving(): boolean {
    return this.#isReceiving;
  }

  /** Returns why the call is refused; `reject` is called for a later reason. */
  begin(reject: (error: IpledgerError) => void): IpledgerError | undefined {
    this.#reject = reject;
    this.#isRejected = false;
    return this.#refusal;
  }

  /**
   * Counts the call, and its connection, for the client that was verified.
   * @param caller whose request it is: another one than the client for a forwarded call
   * @throws IpledgerError OVERLOADED beyond the limits of the client; INVALID_REQUEST for a request
   * over the limit of the caller
   */
  identify(client: Identity, caller: Identity): void {
    if (!this.#connection.identify(client)) {
      this.disconnect();
      throw new IpledgerError('OVERLOADED', `${client.uri} has too many connections: close those that it does not use`);
    }
    const { budgets } = this.#connection;
    const verified = budgets.ofIdentity(client);
    if (verified !== this.#client) {
      budgets.give(this.#client, this.#held);
      this.#client = verified;
      budgets.add(verified, this.#held);
      if (!budgets.take(verified, 0)) throw this.#overloaded();
    }
    this.#maxRequestBytes = maxRequestBytesOf(this.path, caller.kind);
    if (this.#received > this.#maxRequestBytes + prefixBytes) throw this.#tooLarge();
  }

  /** Ends the connection with this call, unless a call on it had an identity. */
  disconnect(): void {
    this.#isRejected = true;
  }

  /** Refuses the call, also while its request arrives. */
  refuse(error: IpledgerError): void {
    if (this.#refusal) return;
    this.#refusal = error;
    const reject = this.#reject;
    // The stream may be in the middle of a read.
    if (reject) setImmediate(reject, error);
  }

  /**
   * Answers a refused call: a second or two later if its client has many, so that refusals cost the
   * server little however fast they are repeated. A client that sends more than it can wait for is
   * disconnected, unless it is a program of ipledger.
   */
  sendRefusal(send: () => void): void {
    if (this.#isRefusalSent) return;
    this.#isRefusalSent = true;
    const client = this.#client;
    // A closed stream does not close again
    if (this.#stream.closed) return send();
    if (client.refusals.take(performance.now())) return send();
    const isCounted = this.#held > 0;
    if (!isCounted && client.uncounted >= maxUncounted) {
      if (client.group === 'programs') return send();
      // grpc-js may be in the middle of this call.
      setImmediate(() => this.session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM));
      return;
    }
    if (!isCounted) client.uncounted++;
    // Calls that are refused together are not answered, and repeated, together.
    const timer = setTimeout(send, refusalDelayMs * (1 + Math.random()));
    this.#stream.once('close', () => {
      clearTimeout(timer);
      if (!isCounted) client.uncounted--;
    });
  }

  /** Counts a reply until it is sent. @throws IpledgerError OVERLOADED if the client reads none */
  holdReply(bytes: number): void {
    const copies = 2 * bytes; // grpc-js writes a copy
    if (!this.#take(copies, bytes <= smallReplyBytes)) throw this.#overloaded();
  }

  releaseReply(bytes: number): void {
    this.#give(2 * bytes);
  }

  /** Counts a stream until the call ends. @throws IpledgerError OVERLOADED beyond the limit */
  holdStream(): void {
    if (!this.#connection.budgets.openStream(this.#client))
      throw new IpledgerError(
        'OVERLOADED',
        'this client, or all together, have too many streams open: close those that it does not read',
      );
    this.#streams++;
  }

  #countData(): void {
    const stream = this.#stream;
    const push = stream.push.bind(stream);
    // Node pushes what arrives, also while grpc-js has paused the stream: up to 64 KiB.
    stream.push = (chunk: Buffer | null) => {
      if (chunk !== null) return push(this.#receive(chunk));
      this.#isReceiving = false;
      if (!this.#refusal || stream.closed) return push(null);
      // grpc-js would send another status than that of the refusal at an end without a message.
      stream.once('finish', () => push(null));
      return false;
    };
    if (stream.readableLength > 0) this.#receive(Buffer.alloc(stream.readableLength));
    if (stream.readableEnded || stream.endAfterHeaders) this.#isReceiving = false;
  }

  /** Returns what is kept of a chunk. */
  #receive(chunk: Buffer): Buffer {
    if (this.#refusal) return empty;
    this.#received += chunk.length;
    if (this.#received > this.#maxRequestBytes + prefixBytes) this.refuse(this.#tooLarge());
    else if (!this.#take(chunk.length + chunkBytes)) this.refuse(this.#overloaded());
    if (this.#refusal) return empty;
    // A chunk is a slice of a read buffer of 64 KiB, which a small chunk would keep in memory.
    if (2 * chunk.length > chunk.buffer.byteLength) return chunk;
    const kept = Buffer.allocUnsafeSlow(chunk.length);
    chunk.copy(kept);
    return kept;
  }

  #take(bytes: number, isForced = false): boolean {
    const { budgets } = this.#connection;
    if (isForced) budgets.add(this.#client, bytes);
    else if (!budgets.take(this.#client, bytes)) {
      this.refuse(this.#overloaded());
      return false;
    }
    this.#held += bytes;
    return true;
  }

  #give(bytes: number): void {
    this.#held -= bytes;
    this.#connection.budgets.give(this.#client, bytes);
  }

  #overloaded(): IpledgerError {
    return new IpledgerError(
      'OVERLOADED',
      'the calls and unread replies of this client, or of all together, hold too much memory here: send fewer at a time, and read the replies',
    );
  }

  #tooLarge(): IpledgerError {
    return new IpledgerError(
      'INVALID_REQUEST',
      `the request has more than ${this.#maxRequestBytes} bytes, and that is the limit of ${this.path} for this client`,
    );
  }

  /** After its answer a call whose request is incomplete would stay open. */
  #resetUnread(): void {
    if (this.#isReceiving) setImmediate(() => this.#stream.close(constants.NGHTTP2_NO_ERROR));
  }

  #end(): void {
    const { budgets, isIdentified, session } = this.#connection;
    this.#isReceiving = false;
    for (; this.#streams > 0; this.#streams--) budgets.closeStream(this.#client);
    this.#give(this.#held);
    if (this.#isRejected && !isIdentified && !session.closed) session.close();
  }
}

const empty = Buffer.alloc(0);

/** The size of headers by HTTP/2's count (RFC 9113, section 6.5.2). */
function sizeOf(headers: IncomingHttpHeaders): number {
  let bytes = 0;
  for (const name in headers) {
    const value = headers[name];
    for (const each of Array.isArray(value) ? value : [value ?? '']) bytes += name.length + each.length + 32;
  }
  return bytes;
}
