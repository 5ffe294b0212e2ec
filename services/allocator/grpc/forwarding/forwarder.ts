/**
 * Forwards calls that only the writer can answer from a standby to the writer, over one hop, with
 * the request bytes and the caller's deadline, cancellation and identity. Without a writer the call
 * waits, so that a takeover is a pause and not an error.
 *
 * A request is sent again only if it was certainly not executed: there was no connection, or the
 * replica returned NOT_WRITER. If the connection broke, or another replica became the writer, the
 * outcome is unknown, and the call fails with UNAVAILABLE. The caller then decides whether to
 * repeat it. Allocate, Bind, Release and Unbind are idempotent.
 *
 * The writer trusts the forwarded identity because the peer's certificate names an allocator
 * (authorization.ts).
 */
import { Metadata } from '@grpc/grpc-js';
import { backoffMs, pause } from '../../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../../lib/errors.ts';
import { call, type Connection, callOutcome } from '../../../../lib/grpc/client.ts';
import type { Method } from '../../../../proto/codec.ts';
import { anonymous, onBehalfOfKey } from '../../../../lib/grpc/server/authorization.ts';
import { elapsedKey, forwardedKey } from '../../../../lib/grpc/server/call-context.ts';
import type { ForwardableCall } from '../../../../lib/grpc/server/serve.ts';

/** How long a request waits for a writer: longer than a takeover takes. */
const defaultWriterWaitMs = 8_000;
/** The exponential backoff between two attempts. */
const backoff = { firstMs: 20, maxMs: 250 };
/** How long a former writer may take to return its last replies. */
const defaultGraceMs = 1_000;
/** The timeout of calls that have no deadline. */
const maxCallMs = 30_000;
/** Limits the memory of a standby while there is no writer. */
const defaultMaxInFlight = 4_096;

/** Another replica that is the writer, or was the last writer. */
interface Peer {
  readonly address: string;
  readonly connection: Connection;
  /** Aborted some time after another replica became the writer: this peer no longer answers. */
  readonly replaced: AbortController;
}

export interface ForwarderOptions {
  readonly connect: (address: string) => Connection;
  /** Default: 8 s. */
  readonly writerWaitMs?: number;
  /** Default: 1 s. */
  readonly formerWriterGraceMs?: number;
  /** The most calls that are forwarded or waiting at the same time. Default: 4,096. */
  readonly maxInFlight?: number;
}

export class Forwarder {
  readonly #options: ForwarderOptions;
  #peer: Peer | undefined;
  #address: string | undefined;
  #writerChanged = new AbortController();
  #inFlight = 0;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  /** The address of the writer; undefined if it is this replica, or unknown. */
  get writerAddress(): string | undefined {
    return this.#address;
  }

  /** Records the address of another replica that is the writer; undefined if none is known. */
  setRemoteWriter(address: string | undefined): void {
    if (address === this.#address) return;
    this.#address = address;
    // Until there is another writer, the former one may still return replies.
    if (address !== undefined && address !== this.#peer?.address) {
      this.#closePeerAfterGrace();
      this.#peer = { address, connection: this.#options.connect(address), replaced: new AbortController() };
    }
    this.#wakeWaitingCalls();
  }

  /** Records that this replica is the writer. */
  setLocalWriter(): void {
    this.#address = undefined;
    this.#closePeerAfterGrace();
    this.#wakeWaitingCalls();
  }

  close(): void {
    disconnect(this.#peer);
    this.#peer = undefined;
  }

  /**
   * Forwards a call that only the writer can answer, or answers it here once this replica is the
   * writer.
   * @param answerHere has thrown NOT_WRITER, so the call was not executed. It throws NOT_WRITER
   * again until this replica is the writer.
   * @throws what `answerHere` throws or the writer returned; UNAVAILABLE if the outcome is unknown,
   * or too many calls are in flight; NOT_WRITER if there was no writer for 8 s.
   */
  async forward<Reply>(forwardable: ForwardableCall, answerHere: () => Promise<Reply>): Promise<Reply | Buffer> {
    const max = this.#options.maxInFlight ?? defaultMaxInFlight;
    if (this.#inFlight >= max)
      throw new IpledgerError(
        'UNAVAILABLE',
        `this standby has ${max} calls that wait for the writer, and that is the limit: try again later`,
      );
    this.#inFlight++;
    try {
      return await this.#retryUntilAnswered(forwardable, answerHere);
    } finally {
      this.#inFlight--;
    }
  }

  /**
   * Forwards the call to the writer, or waits for a writer. This replica may become the writer
   * during the wait.
   */
  async #retryUntilAnswered<Reply>(
    forwardable: ForwardableCall,
    answerHere: () => Promise<Reply>,
  ): Promise<Reply | Buffer> {
    const until = performance.now() + (this.#options.writerWaitMs ?? defaultWriterWaitMs);
    const { signal } = forwardable.context;
    for (let attempt = 0; ; attempt++) {
      const reply = await this.#forwardToWriter(forwardable);
      if (reply) return reply;
      await pause(
        backoffMs(attempt, backoff.firstMs, backoff.maxMs),
        AbortSignal.any([signal, this.#writerChanged.signal]),
      );
      try {
        return await answerHere();
      } catch (error) {
        const isOver = signal.aborted || performance.now() >= until;
        if (isOver || IpledgerError.from(error).code !== 'NOT_WRITER') throw error;
      }
    }
  }

  #closePeerAfterGrace(): void {
    const former = this.#peer;
    this.#peer = undefined;
    setTimeout(() => disconnect(former), this.#options.formerWriterGraceMs ?? defaultGraceMs).unref();
  }

  /** Ends the current wait of all calls. */
  #wakeWaitingCalls(): void {
    this.#writerChanged.abort();
    this.#writerChanged = new AbortController();
  }

  /** Returns the writer's reply; undefined if the request was certainly not executed. */
  async #forwardToWriter({ path, request, context }: ForwardableCall): Promise<Buffer | undefined> {
    const peer = this.#peer;
    if (!peer || this.#address !== peer.address) return undefined;
    const { address, connection, replaced } = peer;
    const metadata = new Metadata();
    metadata.set(forwardedKey, 'yes');
    metadata.set(elapsedKey, String(Math.round(context.elapsedMs?.() ?? 0)));
    if (context.actor !== anonymous) metadata.set(onBehalfOfKey, context.actor);
    const timeoutMs = Math.min(maxCallMs, context.remainingMs?.() ?? Infinity);
    const signal = AbortSignal.any([context.signal, replaced.signal]);
    try {
      const trace = context.span?.context;
      return await call(connection, rawBytesMethod(path), request, { timeoutMs, signal, metadata, trace });
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      const outcome = callOutcome(error);
      if (error.code === 'NOT_WRITER' || outcome === 'unsent') return undefined;
      // A writer of an earlier version does not know the method, so it did not execute the call.
      const isRefused = outcome === 'refused' || error.code === 'NOT_IMPLEMENTED';
      if (isRefused || error.code === 'DEADLINE_PASSED' || context.signal.aborted) throw error;
      throw new IpledgerError(
        'UNAVAILABLE',
        `the connection to the writer at ${address} was lost, and whether it executed the request is unknown: repeat the request`,
        { cause: error },
      );
    }
  }
}

/** Ends the calls to a peer, and the connection. */
function disconnect(peer: Peer | undefined): void {
  peer?.replaced.abort();
  peer?.connection.close();
}

/** A method that passes messages as bytes, so that unknown fields are forwarded too. */
function rawBytesMethod(path: string): Method<Buffer, Buffer, 'unary'> {
  const same = (bytes: unknown): Buffer => bytes as Buffer;
  return {
    kind: 'unary',
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
}
