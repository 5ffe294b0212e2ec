/**
 * The flow of a stream of requests: which are read, which are in progress, and when their results are sent. It answers none itself.
 *
 *   message ─► received ─► at most 512 in progress ─► results of one turn of the event loop ─► one message
 *
 * It reads no further while 512 requests are in progress or the client does not read results. So a stream holds a bounded number of
 * requests, and a slow client delays its own stream only.
 */
import type { ServerDuplexStream } from '@grpc/grpc-js';
import { IpledgerError } from '../../errors.ts';
import { type RequestOutcome, ResultsWriter } from '../../../proto/request-frames.ts';
import { maxPageBytes } from '../../net/page-size.ts';
import { maxStreamRequests } from './request-limits.ts';

/** A message with more bytes gets no further result. A client accepts messages of 4 MiB by default. */
const maxMessageBytes = maxPageBytes / 4;

/** One request that arrived. */
export interface StreamedRequest {
  /** Chosen by the client. */
  readonly id: number;
  /** Resolves when there is an outcome, also of a request that failed. Does not throw. */
  answer(): Promise<void>;
  /** The encoded outcome. Does not throw after `answer`. */
  outcome(): RequestOutcome;
}

export interface RequestStreamOptions {
  /** The requests of a message. @throws IpledgerError ends the stream */
  readonly receive: (message: Buffer) => readonly StreamedRequest[];
  /** Verifies the caller again, before each message but the first. Absent: its connection was verified. */
  readonly verify: (() => Promise<unknown>) | undefined;
  /** Aborted when the caller has disconnected or its deadline has passed. */
  readonly cancelled: AbortSignal;
  /** Aborted when this server stops. */
  readonly stopping?: AbortSignal | undefined;
}

export class RequestStream {
  readonly #call: ServerDuplexStream<Buffer, Buffer>;
  readonly #options: RequestStreamOptions;
  readonly #done = Promise.withResolvers<void>();
  /** Of requests without a result. */
  readonly #ids = new Set<number>();
  /** Received, and not in progress yet. */
  #waiting: StreamedRequest[] = [];
  #inProgress = 0;
  #answered: StreamedRequest[] = [];
  #messages = 0;
  #isReceiving = false;
  /** Why no message is read any more: the half-close, or the error that ends the stream. */
  #end: 'half-close' | IpledgerError | undefined;

  constructor(call: ServerDuplexStream<Buffer, Buffer>, options: RequestStreamOptions) {
    this.#call = call;
    this.#options = options;
  }

  /**
   * Answers requests until the client's half-close, an error, or the stop of this server. Resolves when all results are written.
   * @throws IpledgerError when the stream must end with it: INVALID_REQUEST; UNAVAILABLE when this server stops; CANCELLED; what
   *   `verify` throws
   */
  async run(): Promise<void> {
    const { cancelled, stopping } = this.#options;
    const stop = (): void => this.#finish(new IpledgerError('UNAVAILABLE', 'this replica stops: connect to another'));
    const cancel = (): void => this.#done.reject(IpledgerError.from(cancelled.reason));
    stopping?.addEventListener('abort', stop, { once: true });
    cancelled.addEventListener('abort', cancel, { once: true });
    this.#call.on('drain', () => this.#startWaiting());
    this.#call.on('data', (message: Buffer) => void this.#receive(message));
    this.#call.on('end', () => this.#finish('half-close'));
    if (stopping?.aborted) stop();
    if (cancelled.aborted) cancel();
    try {
      await this.#done.promise;
    } finally {
      stopping?.removeEventListener('abort', stop);
      cancelled.removeEventListener('abort', cancel);
    }
  }

  async #receive(message: Buffer): Promise<void> {
    this.#call.pause();
    this.#isReceiving = true;
    try {
      const { verify, receive } = this.#options;
      if (verify && this.#messages++ > 0) await verify();
      if (this.#end === undefined) this.#accept(receive(message));
    } catch (error) {
      this.#finish(IpledgerError.from(error));
    }
    this.#isReceiving = false;
    this.#startWaiting();
  }

  /** @throws IpledgerError INVALID_REQUEST for an id of a request without a result. Then no request of the message is executed. */
  #accept(requests: readonly StreamedRequest[]): void {
    for (const { id } of requests) {
      if (this.#ids.has(id))
        throw new IpledgerError(
          'INVALID_REQUEST',
          `requests: the request with id ${id} has no result yet: use another id, or wait for the result`,
        );
      this.#ids.add(id);
    }
    this.#waiting.push(...requests);
  }

  #startWaiting(): void {
    while (this.#hasRoom()) {
      const next = this.#waiting.shift();
      if (!next) break;
      void this.#answer(next);
    }
    if (this.#end === undefined && !this.#isReceiving && this.#hasRoom()) this.#call.resume();
    this.#endIfDone();
  }

  #hasRoom(): boolean {
    return this.#inProgress < maxStreamRequests && !this.#call.writableNeedDrain && !this.#options.cancelled.aborted;
  }

  async #answer(request: StreamedRequest): Promise<void> {
    this.#inProgress++;
    await request.answer();
    this.#inProgress--;
    this.#ids.delete(request.id);
    if (this.#answered.push(request) === 1) setImmediate(() => this.#sendResults());
  }

  /**
   * Requests of one transaction are answered together, so their results share a message. It is encoded after the writer has sent the
   * next transaction, which it does not delay.
   */
  #sendResults(): void {
    if (this.#options.cancelled.aborted) return;
    const answered = this.#answered;
    this.#answered = [];
    let message = new ResultsWriter();
    for (const request of answered) {
      if (message.length > maxMessageBytes) {
        this.#call.write(message.finish());
        message = new ResultsWriter();
      }
      message.add(request.id, request.outcome());
    }
    this.#call.write(message.finish());
    this.#startWaiting();
  }

  /** Reads no further. After an error, requests that are not in progress are dropped. */
  #finish(end: 'half-close' | IpledgerError): void {
    if (this.#end instanceof IpledgerError) return;
    this.#end = end;
    this.#call.pause();
    if (end instanceof IpledgerError) this.#waiting = [];
    this.#endIfDone();
  }

  #endIfDone(): void {
    const isBusy = this.#isReceiving || this.#inProgress > 0 || this.#waiting.length > 0 || this.#answered.length > 0;
    if (this.#end === undefined || isBusy) return;
    if (this.#end === 'half-close') this.#done.resolve();
    else this.#done.reject(this.#end);
  }
}
