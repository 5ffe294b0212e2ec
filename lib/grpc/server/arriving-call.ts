/** One call on a server, from its headers to its end. Its memory is counted and limited. */
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { constants, type IncomingHttpHeaders } from 'node:http2';
import { IpledgerError } from '../../errors.ts';
import type { Identity } from '../../tls/identity.ts';
import type { ClientBudget, ClientBudgets } from './client-budgets.ts';
import { maxRequestBytesOf } from './request-limits.ts';

/** The memory that grpc-js and Node need for a waiting call: 11 KiB of heap, 26 KiB resident. */
const callBytes = 16_384;
/** The overhead of each buffered chunk. */
const chunkBytes = 256;
/** The limit of the headers, which can hold a token of 16 KiB. */
const maxHeaderBytes = 24_576;
/** The length that precedes a message. */
const prefixBytes = 5;
/** Replies up to this size ignore the limits, so that an executed command gets its answer. */
const smallReplyBytes = 16_384;

/** The minimum wait before each answer, for a client with many refused calls. Errors name it. */
const refusalDelayMs = 1_000;
/** The refused calls of a client that may wait although its limit of bytes is used up. */
const maxUncounted = 64;

/** A connection, as its calls use it. */
export interface CallConnection {
  /** The client whose limits count the calls. */
  client: ClientBudget;
  /** Whether a call on this connection had an identity. */
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
  /** The bytes that the call holds. */
  #held = 0;
  #received = 0;
  #maxRequestBytes: number;
  #isReceiving = true;
  #streams = 0;
  #refusal: IpledgerError | undefined;
  #isRefusalSent = false;
  #reject: ((error: IpledgerError) => void) | undefined;
  /** Whether to disconnect the client at the end, unless it has identified itself. */
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
    // Rejects compressed requests: unpacking would cost time and memory for an unknown client.
    if (encoding !== 'identity')
      this.refuse(new IpledgerError('NOT_IMPLEMENTED', 'compressed requests are not accepted: send them uncompressed'));
    this.#countData();
    stream.once('finish', () => setImmediate(() => this.resetUnread()));
    stream.once('close', () => this.#end());
  }

  /** The connection of the call. It may have ended. */
  get session(): ServerHttp2Session {
    return this.#connection.session;
  }

  /** Whether a part of the request is missing. */
  get isReceiving(): boolean {
    return this.#isReceiving;
  }

  /** Returns why the call is refused. `reject` is called if it is refused later. */
  begin(reject: (error: IpledgerError) => void): IpledgerError | undefined {
    this.#reject = reject;
    this.#isRejected = false;
    return this.#refusal;
  }

  /**
   * Counts the call and its connection for the verified client.
   * @param caller the identity that the call is for, which differs from the client in a forwarded
   * call
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

  /** Ends the connection after this call, unless a call on it had an identity. */
  disconnect(): void {
    this.#isRejected = true;
  }

  /** Refuses the call, even while its request arrives. */
  refuse(error: IpledgerError): void {
    if (this.#refusal) return;
    this.#refusal = error;
    const reject = this.#reject;
    // Rejects later, because the stream may be in the middle of a read.
    if (reject) setImmediate(reject, error);
  }

  /**
   * Answers a refused call. If the client has many, the answer is delayed by one to two seconds, so
   * that fast repetition costs the server little. A client with too many waiting calls is
   * disconnected, unless it is a program of ipledger.
   */
  sendRefusal(send: () => void): void {
    if (this.#isRefusalSent) return;
    this.#isRefusalSent = true;
    const client = this.#client;
    // A closed stream emits no further `close`, which would end the delay.
    if (this.#stream.closed) return send();
    if (client.refusals.take(performance.now())) return send();
    const isCounted = this.#held > 0;
    if (!isCounted && client.uncounted >= maxUncounted) {
      if (client.group === 'programs') return send();
      // Disconnects later, because grpc-js may be in the middle of this call.
      setImmediate(endOverloaded, this.session);
      return;
    }
    if (!isCounted) client.uncounted++;
    // Random, so that calls which were refused together are not repeated together.
    const timer = setTimeout(send, refusalDelayMs * (1 + Math.random()));
    this.#stream.once('close', () => {
      clearTimeout(timer);
      if (!isCounted) client.uncounted--;
    });
  }

  /**
   * Closes an answered call whose request is incomplete: it would stay open. Waits until its status
   * is sent, because HTTP/2 drops the trailers of a stream that is reset before.
   */
  resetUnread(): void {
    const stream = this.#stream;
    if (this.#isReceiving && stream.writableFinished && stream.state.localClose === 1)
      stream.close(constants.NGHTTP2_NO_ERROR);
  }

  /** Counts a reply until it is sent. @throws IpledgerError OVERLOADED if the client reads none */
  holdReply(bytes: number): void {
    const copies = 2 * bytes; // grpc-js writes a copy
    if (!this.#take(copies, bytes <= smallReplyBytes)) throw this.#overloaded();
  }

  releaseReply(bytes: number): void {
    this.#give(2 * bytes);
  }

  /** Counts a stream until it ends. @throws IpledgerError OVERLOADED beyond the limit */
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
    // Counts here, because Node pushes up to 64 KiB even while grpc-js has paused the stream.
    stream.push = (chunk: Buffer | null) => {
      if (chunk !== null) return push(this.#receive(chunk));
      this.#isReceiving = false;
      if (!this.#refusal || stream.closed || stream.writableFinished) return push(null);
      // Ends the stream later, because grpc-js would replace the status if a stream ended without a
      // message.
      stream.once('finish', () => push(null));
      return false;
    };
    if (stream.readableLength > 0) this.#receive(Buffer.alloc(stream.readableLength));
    if (stream.readableEnded || stream.endAfterHeaders) this.#isReceiving = false;
  }

  /** Counts a chunk. Returns what is kept of it. */
  #receive(chunk: Buffer): Buffer {
    if (this.#refusal) return empty;
    this.#received += chunk.length;
    if (this.#received > this.#maxRequestBytes + prefixBytes) this.refuse(this.#tooLarge());
    else if (!this.#take(chunk.length + chunkBytes)) this.refuse(this.#overloaded());
    if (this.#refusal) return empty;
    // A small chunk is copied: as a slice, it would keep a read buffer of 64 KiB in memory.
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

  #end(): void {
    const { budgets, isIdentified, session } = this.#connection;
    this.#isReceiving = false;
    for (; this.#streams > 0; this.#streams--) budgets.closeStream(this.#client);
    this.#give(this.#held);
    if (this.#isRejected && !isIdentified && !session.closed) session.close();
  }
}

const empty = Buffer.alloc(0);

/** The size of headers as HTTP/2 counts it (RFC 9113, section 6.5.2). */
function sizeOf(headers: IncomingHttpHeaders): number {
  let bytes = 0;
  for (const name in headers) {
    const value = headers[name];
    for (const each of Array.isArray(value) ? value : [value ?? '']) bytes += name.length + each.length + 32;
  }
  return bytes;
}

/**
 * Ends the connection of a client that sends more than the server holds for it. The client reports
 * OVERLOADED for each of its calls.
 *
 * Passes null as the error: for undefined, Node sends code 0, and clients report an internal error.
 */
export const endOverloaded = (session: ServerHttp2Session): void =>
  session.destroy(null as unknown as undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
