/** JSON-RPC on one connection (RFC 7047, section 4): requests, notifications, and echo. */
import type { Socket } from 'node:net';
import { isObject, type JsonObject, shorten } from './json.ts';
import { MessageSplitter } from './message-splitter.ts';
import { invalidRequest, OvsdbError, protocolError } from './ovsdb-error.ts';
import { readServerError } from './transaction.ts';

export interface SessionLimits {
  /** The most bytes of one message, in both directions. */
  readonly maxMessageBytes: number;
  /** The most requests that wait for answers. */
  readonly maxRequests: number;
  /** After this silence the client sends an echo. After the same silence again it closes. */
  readonly probeMs: number;
}

export interface RequestOptions {
  readonly timeoutMs: number;
  /** Ends the wait for an answer. The server may still execute the request. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the result before the next message is read. A throw closes the session. */
  readonly receive?: (result: unknown) => void;
}

interface Pending {
  readonly receive: ((result: unknown) => void) | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: OvsdbError) => void;
}

/** Receives a notification, such as `update3`. A throw closes the session. */
type Notify = (method: string, params: unknown) => void;

export class Session {
  readonly #socket: Socket;
  readonly #limits: SessionLimits;
  readonly #notify: Notify;
  readonly #pending = new Map<number, Pending>();
  readonly #closed = Promise.withResolvers<OvsdbError>();
  readonly #probe: NodeJS.Timeout;
  #error: OvsdbError | undefined;
  #nextId = 1;
  #isQuiet = false;

  constructor(socket: Socket, limits: SessionLimits, notify: Notify) {
    this.#socket = socket;
    this.#limits = limits;
    this.#notify = notify;
    const splitter = new MessageSplitter(limits.maxMessageBytes);
    socket.on('data', (chunk: Buffer) => {
      this.#isQuiet = false;
      this.#probe.refresh();
      if (this.#error) return;
      try {
        splitter.push(chunk, (message) => this.#receive(message));
      } catch (error) {
        this.close(error instanceof OvsdbError ? error : protocolError(String(error)));
      }
    });
    socket.on('error', (error) =>
      this.close(new OvsdbError('NOT_CONNECTED', `the connection failed: ${error.message}`)),
    );
    socket.on('close', () => this.close(new OvsdbError('NOT_CONNECTED', 'the server closed the connection')));
    this.#probe = setInterval(() => this.#probeServer(), limits.probeMs);
  }

  /** Resolves to the reason when the session has ended. */
  get closed(): Promise<OvsdbError> {
    return this.#closed.promise;
  }

  /**
   * Sends a request and returns its result. The session closes after a timeout.
   * @throws OvsdbError REFUSED if the server answers with an error; OUTCOME_UNKNOWN if no answer
   * comes; NOT_CONNECTED if the session has already ended; INVALID_REQUEST if a limit is exceeded
   */
  async request(
    method: string,
    params: readonly unknown[],
    { timeoutMs, signal, receive }: RequestOptions,
  ): Promise<unknown> {
    if (this.#error) throw new OvsdbError('NOT_CONNECTED', this.#error.message, { cause: this.#error });
    if (signal?.aborted === true) throw new OvsdbError('NOT_CONNECTED', 'the caller cancelled the request');
    if (this.#pending.size >= this.#limits.maxRequests)
      throw invalidRequest(`${this.#pending.size} requests wait for their answers, which is the limit`);
    const id = this.#nextId++;
    const text = JSON.stringify({ method, params, id });
    if (Buffer.byteLength(text) > this.#limits.maxMessageBytes)
      throw invalidRequest(`${method} is larger than ${this.#limits.maxMessageBytes} bytes`);
    if (this.#socket.writableLength > this.#limits.maxMessageBytes)
      throw invalidRequest(`the server has not read ${this.#socket.writableLength} bytes of earlier requests`);

    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#pending.set(id, { resolve, reject, receive });
    const abort = (): void => {
      this.#send({ method: 'cancel', params: [id], id: null });
      reject(new OvsdbError('OUTCOME_UNKNOWN', `the caller cancelled ${method} before its answer`));
    };
    signal?.addEventListener('abort', abort, { once: true });
    const late = setTimeout(() => {
      reject(new OvsdbError('OUTCOME_UNKNOWN', `the server did not answer ${method} within ${timeoutMs} ms`));
      this.close(new OvsdbError('NOT_CONNECTED', `the server did not answer ${method} within ${timeoutMs} ms`));
    }, timeoutMs);
    try {
      this.#socket.write(text);
      return await promise;
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', abort);
      this.#pending.delete(id);
    }
  }

  /** Ends the session. Waiting requests fail with OUTCOME_UNKNOWN. Only the first reason counts. */
  close(reason: OvsdbError): void {
    if (this.#error) return;
    this.#error = reason;
    clearInterval(this.#probe);
    this.#socket.destroy();
    for (const { reject } of this.#pending.values())
      reject(new OvsdbError('OUTCOME_UNKNOWN', `no answer: ${reason.message}`, { cause: reason }));
    this.#closed.resolve(reason);
  }

  #send(message: JsonObject): void {
    if (!this.#error) this.#socket.write(JSON.stringify(message));
  }

  #probeServer(): void {
    if (this.#isQuiet) {
      this.close(new OvsdbError('NOT_CONNECTED', `the server sent nothing for ${2 * this.#limits.probeMs} ms`));
      return;
    }
    this.#isQuiet = true;
    this.#send({ method: 'echo', params: [], id: 'echo' });
  }

  #receive({ id, method, params, result, error }: JsonObject): void {
    if (this.#error) return;
    if (typeof method === 'string') {
      if (method !== 'echo') this.#notify(method, params);
      // A server that sends echoes but does not read the answers must not fill the memory.
      else if (this.#socket.writableLength > this.#limits.maxMessageBytes)
        throw protocolError('the server does not read the answers to its echoes');
      else this.#send({ id: id ?? null, result: params ?? [], error: null });
      return;
    }
    const pending = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (!pending) return;
    if (error !== null && error !== undefined) pending.reject(refusal(error));
    else {
      pending.receive?.(result);
      pending.resolve(result);
    }
  }
}

function refusal(error: unknown): OvsdbError {
  if (isObject(error) && typeof error['error'] === 'string') {
    const serverError = readServerError(error);
    return new OvsdbError('REFUSED', `the server rejected the request: ${serverError.error}: ${serverError.details}`, {
      serverError,
    });
  }
  const text = shorten(typeof error === 'string' ? error : JSON.stringify(error));
  return new OvsdbError('REFUSED', `the server rejected the request: ${text}`, {
    serverError: { error: text, details: '' },
  });
}
