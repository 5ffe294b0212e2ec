/** Test support: a client of Ipam.AllocateStream, which sends the requests of one turn of the event loop in one message. */
import { type Client, type ClientDuplexStream, Metadata, type ServiceError } from '@grpc/grpc-js';
import type { Connection, GrpcJsChannel } from '../../../../lib/grpc/client.ts';
import { isErrorCode, IpledgerError } from '../../../../lib/errors.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import { IpamService } from '../../../../proto/generated/ipledger.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';

const maxPerMessage = 256;

type Requests = MessageInput<api.AllocateStreamRequest>;

interface Outstanding {
  readonly resolve: (reply: api.AllocateReply) => void;
  readonly reject: (error: IpledgerError) => void;
}

/** The client of the replica in use, of a connection on grpc-js. */
export const currentClient = ({ current }: Connection): Client => (current as GrpcJsChannel).client;

/** An open stream. */
export class AllocateStream {
  readonly #call: ClientDuplexStream<Requests, api.AllocateStreamReply>;
  readonly #outstanding = new Map<number, Outstanding>();
  #unsent: MessageInput<api.NumberedAllocateRequest>[] = [];
  #lastId = 0;
  #isHalfClosed = false;
  /** All results, in the order of their arrival. */
  readonly results: api.AllocateResult[] = [];
  /** With which the stream has ended. */
  failure: IpledgerError | undefined;
  /** Resolves at the end of the stream: with its error, or undefined. */
  readonly ended: Promise<IpledgerError | undefined>;

  constructor(connection: Connection, metadata = new Metadata()) {
    const { path, requestSerialize, responseDeserialize } = IpamService.allocateStream;
    const call = currentClient(connection).makeBidiStreamRequest<Requests, api.AllocateStreamReply>(
      path,
      requestSerialize,
      responseDeserialize,
      metadata,
    );
    this.#call = call;
    const ended = Promise.withResolvers<IpledgerError | undefined>();
    this.ended = ended.promise;
    call.on('data', ({ results }: api.AllocateStreamReply) => {
      for (const result of results) this.#settle(result);
    });
    call.on('error', (error: ServiceError) => {
      const reason = IpledgerError.from(error);
      this.failure = reason;
      for (const { reject } of this.#outstanding.values()) reject(reason);
      ended.resolve(reason);
    });
    call.on('end', () => ended.resolve(undefined));
  }

  /** Allocates. @throws IpledgerError of this request, or with which the stream ended */
  allocate(request: MessageInput<api.AllocateRequest>, traceparent = ''): Promise<api.AllocateReply> {
    const id = ++this.#lastId;
    if (this.#unsent.push({ id, request, traceparent }) === 1) setImmediate(() => this.#flush());
    return new Promise((resolve, reject) => {
      this.#outstanding.set(id, { resolve, reject });
    });
  }

  /** Sends one message as it is; nothing waits for its results. */
  send(message: Requests): void {
    this.#call.write(message);
  }

  /** Sends no more requests: the server answers those that it has, and ends the stream. */
  halfClose(): void {
    this.#isHalfClosed = true;
    if (this.#unsent.length === 0) this.#call.end();
  }

  cancel(): void {
    this.#call.cancel();
  }

  #flush(): void {
    for (let first = 0; first < this.#unsent.length; first += maxPerMessage)
      this.#call.write({ requests: this.#unsent.slice(first, first + maxPerMessage) });
    this.#unsent = [];
    if (this.#isHalfClosed) this.#call.end();
  }

  #settle(result: api.AllocateResult): void {
    const { id, reply, error } = result;
    this.results.push(result);
    const waiting = this.#outstanding.get(id);
    this.#outstanding.delete(id);
    if (error) waiting?.reject(new IpledgerError(isErrorCode(error.code) ? error.code : 'BUG', error.message));
    else if (reply) waiting?.resolve(reply);
  }
}
