/**
 * A standby passes what only the writer can answer on to the writer, one hop: the bytes as they came, with the caller's
 * deadline, cancellation and identity. While there is no writer it waits for one, so that a takeover is a pause and no error.
 *
 * A request is sent again only when it is known that nothing came of it: there was no connection, or the one who was asked says
 * NOT_WRITER. Where the connection broke, or another became the writer meanwhile, the request may have been carried out: the
 * caller is told so, by UNAVAILABLE. Repeating it is the caller's, who knows what it asked for since: Allocate, Bind, Release
 * and Unbind of one Pod and container, asked again, write nothing that is written, and Allocate and Bind answer as before.
 */
import { Metadata } from '@grpc/grpc-js';
import { backoffMs, pause } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { call, type Connection, fateOf } from '../../../lib/rpc.ts';
import type { Method } from '../../../proto/codec.ts';
import { anonymous, onBehalfOf } from '../../../lib/serving/authorization.ts';
import { elapsedKey, type Passage, passedOnKey } from '../../../lib/serving/serve.ts';

/** How long a request waits for a writer: longer than a takeover takes. */
const usualPatienceMs = 8_000;
/** Between two tries, doubling. */
const again = { firstMs: 20, mostMs: 250 };
/** How long a former writer may take to say that it is none, or to give a last answer. */
const usualGraceMs = 1_000;
/** For callers that name no deadline. */
const mostMs = 30_000;
/** So that a standby does not drown in requests while nobody writes. */
const usualMost = 4_096;

/** Another replica that is the writer, or was it last. */
interface Peer {
  readonly address: string;
  readonly connection: Connection;
  /** Aborted when another has been the writer for a moment: this one hangs, and need not be waited for. */
  readonly replaced: AbortController;
}

export interface ForwarderOptions {
  readonly connect: (address: string) => Connection;
  /** Default 8 s. */
  readonly patienceMs?: number;
  /** Default 1 s. */
  readonly graceMs?: number;
  /** How many calls are in hand at most; default 4,096. */
  readonly most?: number;
}

export class Forwarder {
  readonly #options: ForwarderOptions;
  #peer: Peer | undefined;
  #address: string | undefined;
  #bell = new AbortController();
  #inHand = 0;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  /** Where the writer is, as last seen; undefined when nobody is, or we are. */
  get writerAddress(): string | undefined {
    return this.#address;
  }

  /** Another replica is the writer, at this address; undefined: nobody is, as far as is known. */
  turnTo(address: string | undefined): void {
    if (address === this.#address) return;
    this.#address = address;
    // As long as there is no other, the last writer may yet answer what it was asked.
    if (address !== undefined && address !== this.#peer?.address) {
      this.#dismiss();
      this.#peer = { address, connection: this.#options.connect(address), replaced: new AbortController() };
    }
    this.#ring();
  }

  /** We are the writer. */
  turnHere(): void {
    this.#address = undefined;
    this.#dismiss();
    this.#ring();
  }

  close(): void {
    part(this.#peer);
    this.#peer = undefined;
  }

  /**
   * Has a call answered here or, where this replica is not the writer and has to be, by the writer.
   * @param here answers, or throws NOT_WRITER when nothing came of it.
   * @throws what `here` throws, or the writer answered; UNAVAILABLE when nobody knows whether it was carried out, or too many are
   *   in hand; NOT_WRITER when there was no writer for 8 s.
   */
  async answer<Reply>(passage: Passage, here: () => Promise<Reply>): Promise<Reply | Buffer> {
    try {
      return await here();
    } catch (error) {
      if (IpledgerError.from(error).code !== 'NOT_WRITER' || passage.passedOn) throw error;
    }
    const most = this.#options.most ?? usualMost;
    if (this.#inHand >= most)
      throw new IpledgerError('UNAVAILABLE', `${most} calls are with the writer, or wait for one: try again later`);
    this.#inHand++;
    try {
      return await this.#insist(passage, here);
    } finally {
      this.#inHand--;
    }
  }

  /** Asks the writer, and where there is none waits for it: it may be we by then. */
  async #insist<Reply>(passage: Passage, here: () => Promise<Reply>): Promise<Reply | Buffer> {
    const until = performance.now() + (this.#options.patienceMs ?? usualPatienceMs);
    const { signal } = passage.context;
    for (let tries = 0; ; tries++) {
      const reply = await this.#pass(passage);
      if (reply) return reply;
      await pause(backoffMs(tries, again.firstMs, again.mostMs), AbortSignal.any([signal, this.#bell.signal]));
      try {
        return await here();
      } catch (error) {
        const isOver = signal.aborted || performance.now() >= until;
        if (isOver || IpledgerError.from(error).code !== 'NOT_WRITER') throw error;
      }
    }
  }

  #dismiss(): void {
    const former = this.#peer;
    this.#peer = undefined;
    setTimeout(() => part(former), this.#options.graceMs ?? usualGraceMs).unref();
  }

  /** Has all that wait look again. */
  #ring(): void {
    this.#bell.abort();
    this.#bell = new AbortController();
  }

  /** The writer's reply; undefined when it is known that nothing came of the request. */
  async #pass({ path, request, context }: Passage): Promise<Buffer | undefined> {
    const peer = this.#peer;
    if (!peer || this.#address !== peer.address) return undefined;
    const { address, connection, replaced } = peer;
    const metadata = new Metadata();
    metadata.set(passedOnKey, 'yes');
    metadata.set(elapsedKey, String(Math.round(context.elapsedMs?.() ?? 0)));
    if (context.actor !== anonymous) metadata.set(onBehalfOf, context.actor);
    const timeoutMs = Math.min(mostMs, context.remainingMs?.() ?? Infinity);
    const signal = AbortSignal.any([context.signal, replaced.signal]);
    try {
      return await call(connection, bytesThrough(path), request, { timeoutMs, signal, metadata });
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      const fate = fateOf(error);
      if (error.code === 'NOT_WRITER' || fate === 'unsent') return undefined;
      if (fate === 'refused' || error.code === 'DEADLINE_PASSED' || context.signal.aborted) throw error;
      throw new IpledgerError(
        'UNAVAILABLE',
        `the writer at ${address} was lost at work, and whether it carried the request out is not known: ask the same again`,
        { cause: error },
      );
    }
  }
}

/** Ends what is asked of a peer, and the connection to it. */
function part(peer: Peer | undefined): void {
  peer?.replaced.abort();
  peer?.connection.close();
}

/** A method whose messages are passed through as they are. */
function bytesThrough(path: string): Method<Buffer, Buffer, 'unary'> {
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
