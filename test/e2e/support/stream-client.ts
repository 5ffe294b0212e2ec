/** A client that allocates over a stream, and opens another one when it has ended. */
import type { Connection } from '../../../lib/grpc/client.ts';
import type { MessageInput } from '../../../proto/codec.ts';
import type { AllocateReply, AllocateRequest } from '../../../proto/generated/ipledger.ts';
import { AllocateStream } from '../../../services/allocator/grpc/testing/allocate-stream.ts';

export class StreamClient {
  readonly #connection: Connection;
  #stream: AllocateStream | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * A replica that stops ends its streams, also before it has read all requests: such a request is sent once more, to the next replica.
   * @throws IpledgerError of the request; CANCELLED after `timeoutMs`; else the error with which the second stream ended
   */
  async allocate(request: MessageInput<AllocateRequest>, timeoutMs: number): Promise<AllocateReply> {
    const stream = (this.#stream ??= this.#open());
    try {
      return await allocateWithin(stream, request, timeoutMs);
    } catch (error) {
      if (error !== stream.failure || stream.failure?.code !== 'UNAVAILABLE') throw error;
    }
    await stream.ended;
    return allocateWithin((this.#stream ??= this.#open()), request, timeoutMs);
  }

  close(): void {
    this.#stream?.cancel();
  }

  #open(): AllocateStream {
    const replica = this.#connection.current;
    const stream = new AllocateStream(this.#connection);
    void stream.ended.then(() => {
      if (stream === this.#stream) this.#stream = undefined;
      this.#connection.failOver(replica);
    });
    return stream;
  }
}

/** A suspended replica keeps its streams open: after this time the stream is cancelled. */
async function allocateWithin(
  stream: AllocateStream,
  request: MessageInput<AllocateRequest>,
  timeoutMs: number,
): Promise<AllocateReply> {
  const timer = setTimeout(() => stream.cancel(), timeoutMs);
  try {
    return await stream.allocate(request);
  } finally {
    clearTimeout(timer);
  }
}
