/** Writes the replies of a stream. A slow reader delays only its own stream, and the server holds few bytes for it. */
import type { ServerWritableStream } from '@grpc/grpc-js';
import { waitForCallback } from '../../process/abortable.ts';
import { callWith } from './call-limits.ts';

/** A stream waits while it has more bytes that are not sent: the last reply may exceed it. */
const maxUnsentBytes = 1 << 20;

export class ReplyWriter {
  readonly #call: ServerWritableStream<unknown, Buffer>;
  #unsent = 0;
  #onRoom = (): void => undefined;

  constructor(call: ServerWritableStream<unknown, Buffer>) {
    this.#call = call;
  }

  /**
   * Writes a reply, and waits until another one has room, or the signal is aborted.
   * @throws IpledgerError OVERLOADED when the replies that this client does not read hold too much memory
   */
  async write(reply: Buffer, signal: AbortSignal): Promise<void> {
    const arrived = callWith(this.#call.metadata);
    arrived?.holdReply(reply.length);
    this.#unsent += reply.length;
    // Called when HTTP/2 has sent it: the client may delay that for as long as it likes.
    this.#call.write(reply, () => {
      arrived?.releaseReply(reply.length);
      this.#unsent -= reply.length;
      if (this.#unsent <= maxUnsentBytes) this.#onRoom();
    });
    if (this.#unsent <= maxUnsentBytes) return;
    await waitForCallback(signal, (done) => {
      this.#onRoom = done;
      return () => (this.#onRoom = () => undefined);
    });
  }
}
