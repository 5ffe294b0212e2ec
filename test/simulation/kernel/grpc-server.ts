/**
 * A server of gRPC in the simulation: the methods that `addGrpcService` adds, or those of a model.
 */
import { EventEmitter } from 'node:events';
import { Metadata, type ServiceDefinition, status, type UntypedServiceImplementation } from '@grpc/grpc-js';

export interface CallStatus {
  readonly code: number;
  readonly details: string;
  readonly metadata?: Metadata;
}

/** A call as it arrives. */
export interface IncomingCall {
  readonly metadata: Metadata;
  /** By the clock of the server. */
  readonly deadline: Date;
  /** Called for each message of the client, beginning with the first. */
  onMessage: (message: Buffer) => void;
  onCancel: () => void;
  /** Sends a message to the client. */
  send(message: Buffer): void;
  /** Ends the call, with a last message. */
  end(result: CallStatus, message?: Buffer): void;
}

export interface GrpcMethod {
  /** Whether the client may send more than one message. */
  readonly requestStream: boolean;
  readonly serve: (call: IncomingCall) => void;
}

/** The methods of a server, by their paths. */
export type GrpcMethods = ReadonlyMap<string, GrpcMethod>;

const ok: CallStatus = { code: status.OK, details: '' };

/** What `addGrpcService` needs of a Server of grpc-js. */
export class MethodTable {
  readonly methods = new Map<string, GrpcMethod>();
  readonly #onAnswer: (path: string, request: object, reply: Buffer) => void;

  /** @param onAnswer called with each reply of a unary method when it is sent */
  constructor(onAnswer: (path: string, request: object, reply: Buffer) => void = () => undefined) {
    this.#onAnswer = onAnswer;
  }

  addService(definition: ServiceDefinition, implementation: UntypedServiceImplementation): void {
    for (const [name, { path, responseStream, requestDeserialize, responseSerialize }] of Object.entries(definition)) {
      const handle = implementation[name] as unknown as (call: ServedCall, reply?: Reply) => void;
      const serve = (incoming: IncomingCall): void => {
        incoming.onMessage = (message) => {
          const call = new ServedCall(incoming, requestDeserialize(message) as object);
          if (responseStream) return handle(call);
          handle(call, (error, reply) => {
            if (error) return incoming.end(statusOf(error));
            const bytes = responseSerialize(reply);
            this.#onAnswer(path, call.request, bytes);
            incoming.end(ok, bytes);
          });
        };
      };
      this.methods.set(path, { requestStream: false, serve });
    }
  }
}

type Reply = (error: Partial<CallStatus> | null, reply?: unknown) => void;

const statusOf = ({
  code = status.UNKNOWN,
  details = '',
  metadata = new Metadata(),
}: Partial<CallStatus>): CallStatus => ({
  code,
  details,
  metadata,
});

/** A ServerUnaryCall or ServerWritableStream, as far as handlers use it. */
class ServedCall extends EventEmitter {
  readonly request: object;
  readonly metadata: Metadata;
  cancelled = false;
  readonly #incoming: IncomingCall;

  constructor(incoming: IncomingCall, request: object) {
    super();
    this.request = request;
    this.metadata = incoming.metadata;
    this.#incoming = incoming;
    incoming.onCancel = () => {
      this.cancelled = true;
      this.emit('cancelled');
    };
    this.on('error', (error: Partial<CallStatus>) => incoming.end(statusOf(error)));
  }

  getDeadline(): Date {
    return this.#incoming.deadline;
  }

  write(message: Buffer, onSent: () => void): void {
    this.#incoming.send(message);
    onSent();
  }

  end(): void {
    this.#incoming.end(ok);
  }
}
