/** A channel of grpc-js over the simulated network: its clients run unchanged. */
import { type ChannelInterface, type ChannelOptions, connectivityState, Metadata, status } from '@grpc/grpc-js';
import type { CallStatus, GrpcMethods, IncomingCall } from './grpc-server.ts';
import { noConnection } from '../../../lib/grpc/channel.ts';
import type { Network } from './network.ts';
import type { NetworkCall, Server } from './network-call.ts';
import type { Program } from './program.ts';

export interface GrpcServer extends Server {
  readonly methods: GrpcMethods;
}

/** The servers that listen, by "host:port". */
export type Addresses = ReadonlyMap<string, GrpcServer>;

type Call = ReturnType<ChannelInterface['createCall']>;
type Listener = Parameters<Call['start']>[1];

/** Options that make a client of grpc-js use the simulated network. */
export const simulatedChannel = (client: Program, network: Network, addresses: Addresses): ChannelOptions => ({
  channelFactoryOverride: (address: string) => new SimulatedChannel({ client, network, addresses, address }),
});

interface Target {
  readonly client: Program;
  readonly network: Network;
  readonly addresses: Addresses;
  readonly address: string;
}

class SimulatedChannel implements ChannelInterface {
  readonly #target: Target;
  readonly #calls = new Set<SimulatedCall>();

  constructor(target: Target) {
    this.#target = target;
  }

  close(): void {
    for (const call of this.#calls) call.cancelWithStatus(status.CANCELLED, 'the channel was closed');
  }

  getTarget(): string {
    return this.#target.address;
  }

  getConnectivityState(): connectivityState {
    return connectivityState.READY;
  }

  watchConnectivityState(): void {
    // No client of the project watches it
  }

  getChannelzRef(): ReturnType<ChannelInterface['getChannelzRef']> {
    throw new Error('channelz is not simulated');
  }

  createCall(path: string, deadline: Date | number): Call {
    const call = new SimulatedCall(this.#target, path, Number(deadline), () => this.#calls.delete(call));
    this.#calls.add(call);
    return call;
  }
}

class SimulatedCall {
  readonly #target: Target;
  readonly #path: string;
  readonly #deadline: number;
  readonly #onEnd: () => void;
  readonly #server: GrpcServer | undefined;
  #metadata: Metadata = new Metadata();
  #listener: Listener | undefined;
  #call: NetworkCall | undefined;
  #incoming: IncomingCall | undefined;
  /** The one message of a client that does not stream. */
  #message: Buffer | undefined;
  #stopTimer = (): void => undefined;
  #isEnded = false;

  constructor(target: Target, path: string, deadline: number, onEnd: () => void) {
    this.#target = target;
    this.#path = path;
    this.#deadline = deadline;
    this.#onEnd = onEnd;
    this.#server = target.addresses.get(target.address);
  }

  start(metadata: Metadata, listener: Listener): void {
    const { client, network } = this.#target;
    this.#metadata = metadata;
    this.#listener = listener;
    this.#call = network.open(client, this.#server, {
      onLost: ({ sent }) => this.#end(sent ? broken : unsent),
      onCancel: () => this.#incoming?.onCancel(),
    });
    const remainingMs = this.#deadline - client.wall();
    if (Number.isFinite(remainingMs))
      this.#stopTimer = client.after(remainingMs, () =>
        this.cancelWithStatus(status.DEADLINE_EXCEEDED, 'Deadline exceeded'),
      );
  }

  sendMessageWithContext({ callback }: { readonly callback?: () => void }, message: Buffer): void {
    if (this.#server?.methods.get(this.#path)?.requestStream) this.#send(message);
    else this.#message = message;
    callback?.();
  }

  halfClose(): void {
    if (this.#message) this.#send(this.#message);
  }

  cancelWithStatus(code: status, details: string): void {
    if (this.#isEnded) return;
    this.#call?.cancel();
    this.#end({ code, details });
  }

  startRead(): void {
    // Messages are pushed
  }

  getPeer(): string {
    return this.#target.address;
  }

  getCallNumber(): number {
    return 0;
  }

  setCredentials(): void {
    // There are none
  }

  getAuthContext(): null {
    return null;
  }

  #send(message: Buffer): void {
    const { client, network } = this.#target;
    // The caller may use the buffer again
    const bytes = Buffer.from(message);
    const remainingMs = this.#deadline - client.wall();
    network.world.trace(
      `${client.name} → ${this.#server?.name ?? this.#target.address} ${this.#path.slice(this.#path.lastIndexOf('/') + 1)}`,
    );
    this.#call?.toServer(() => {
      this.#incoming ??= this.#arrive(remainingMs);
      this.#incoming?.onMessage(bytes);
    });
  }

  /** The first message arrives at the server. */
  #arrive(remainingMs: number): IncomingCall | undefined {
    const server = this.#server as GrpcServer;
    const method = server.methods.get(this.#path);
    const deadline = Number.isFinite(remainingMs) ? server.machine.wall() + remainingMs : 8.64e15;
    const incoming: IncomingCall = {
      metadata: this.#metadata.clone(),
      deadline: new Date(deadline),
      onMessage: () => undefined,
      onCancel: () => undefined,
      send: (message) => this.#call?.toClient(() => this.#receive(message)),
      end: (result, message) =>
        this.#call?.toClient(() => {
          if (message) this.#receive(message);
          this.#call?.close();
          this.#end(result);
        }),
    };
    if (method) method.serve(incoming);
    else incoming.end({ code: status.UNIMPLEMENTED, details: `the server has no method ${this.#path}` });
    return incoming;
  }

  #receive(message: Buffer): void {
    if (!this.#isEnded) this.#listener?.onReceiveMessage(message);
  }

  #end({ code, details, metadata = new Metadata() }: CallStatus): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stopTimer();
    this.#onEnd();
    this.#listener?.onReceiveStatus({ code, details, metadata });
  }
}

const broken: CallStatus = { code: status.UNAVAILABLE, details: 'read ECONNRESET' };
const unsent: CallStatus = { code: status.UNAVAILABLE, details: `${noConnection}. Last error: connect ECONNREFUSED` };
