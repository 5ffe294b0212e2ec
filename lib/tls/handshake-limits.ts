/**
 * Paces the TLS handshakes of a server. A handshake costs the server half a millisecond of CPU
 * before it knows the client, and those of many connections arrive in one turn of the event loop:
 * 900 took 200 ms, in which no other client was served.
 */
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Server } from 'node:tls';
import type { GaugeOptions } from '../process/metrics.ts';
import { addTo, removeFrom } from '../maps.ts';
import { clientOf } from '../net/connection-slots.ts';

/**
 * The pause after the begin of a handshake, for other clients. All handshakes take less than a
 * third of the event loop, and the agents of 1,000 nodes connect within three seconds.
 */
const pauseMs = 1;
/** The most handshakes under way: a client can end all that it has in the same turn. */
const maxUnderWay = 64;
/** The most of one client. Agents behind one address share them. */
const maxUnderWayOfClient = 8;
/** The time in which the first message must begin to arrive. */
const helloMs = 5_000;
/** The time in which a handshake must end, so that slow clients leave room for others. */
const handshakeMs = 2_000;
const sweepMs = 500;
/** The first message of a client is one record of TLS with its header (RFC 8446, 5.1). */
const maxHelloBytes = 16_389;

/** The connection of a socket. A TLS socket and the socket below it have the same connection. */
export const connectionKey = ({
  remoteAddress,
  remotePort,
  localAddress,
}: Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress'>): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`;

/**
 * An option of the certificates of a server. Without it, a client could begin three more handshakes
 * on each connection of TLS 1.2, which wait for no turn.
 */
export const noRenegotiation = { secureOptions: constants.SSL_OP_NO_RENEGOTIATION } as const;

const queues = new Set<HandshakeQueue>();

export const handshakeGauge: GaugeOptions = {
  name: 'ipledger_tls_handshakes_waiting',
  help: 'Connections whose TLS handshake waits for its turn.',
  read: () => [...queues].reduce((sum, { waiting }) => sum + waiting, 0),
};

/**
 * Limits the handshakes of a new server, which has only the listeners of Node or grpc-js. Its
 * options must have `noRenegotiation`.
 */
export function limitHandshakes(server: Server): void {
  const listeners = server.listeners('connection');
  const queue = new HandshakeQueue(
    (socket) => {
      for (const listener of listeners) listener.call(server, socket);
    },
    (run) => setTimeout(run, pauseMs),
  );
  queues.add(queue);
  server.removeAllListeners('connection');
  // Node then leaves all after the first message to the system, and so sees the end of a client.
  Object.assign(server, { highWaterMark: 1 });
  server.on('connection', (socket: Socket) => queue.add(socket));
  server.on('secureConnection', (socket) => queue.end(socket));
  const sweep = setInterval(() => queue.sweep(performance.now()), sweepMs).unref();
  server.once('close', () => {
    clearInterval(sweep);
    queues.delete(queue);
  });
}

interface Handshake {
  readonly socket: Socket;
  readonly client: string;
  /** Read at once, because a closed socket has no address. */
  readonly key: string;
  beganAt: number;
}

/**
 * Begins one handshake after the other. A connection waits from its first message on, so silent
 * ones take no turn. Clients take turns, as in ConnectionSlots, and each has a limit of its own.
 */
export class HandshakeQueue {
  readonly #begin: (socket: Socket) => void;
  readonly #later: (run: () => void) => unknown;
  /** Those of each client that wait, by the turn of the clients. */
  readonly #waiting = new Map<string, Set<Handshake>>();
  /** Ordered by their begin. */
  readonly #underWay = new Map<string, Handshake>();
  #isScheduled = false;

  /** @param later calls a function after the pause that follows the begin of a handshake */
  constructor(begin: (socket: Socket) => void, later: (run: () => void) => unknown) {
    this.#begin = begin;
    this.#later = later;
  }

  /** The connections that have sent their first message and wait. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Begins the handshake of a new connection when it is its turn. */
  add(socket: Socket): void {
    const { remoteAddress } = socket;
    socket.on('error', () => undefined); // `close` follows
    // The client has reset the connection before it was accepted.
    if (remoteAddress === undefined) return void socket.destroy();
    const handshake = { socket, client: clientOf(remoteAddress), key: connectionKey(socket), beganAt: 0 };
    const close = (): void => void socket.destroy();
    socket.once('close', () => {
      removeFrom(this.#waiting, handshake.client, handshake);
      if (this.#underWay.get(handshake.key) === handshake) this.#remove(handshake.key);
    });
    socket.setTimeout(helloMs, close);
    socket.once('readable', () => {
      socket.setTimeout(0, close);
      // Without a byte, the client has ended the connection.
      if (socket.readableLength === 0 || socket.readableLength > maxHelloBytes) return close();
      addTo(this.#waiting, handshake.client, handshake);
      this.#schedule();
    });
  }

  /** Counts the handshake of this connection no longer. */
  end(socket: Parameters<typeof connectionKey>[0]): void {
    this.#remove(connectionKey(socket));
  }

  /** Closes the connections whose handshake takes too long. @param now time of performance.now() */
  sweep(now: number): void {
    for (const { socket, beganAt } of this.#underWay.values()) {
      if (now - beganAt < handshakeMs) return;
      socket.destroy();
    }
  }

  #remove(key: string): void {
    if (this.#underWay.delete(key)) this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#run());
  }

  #run(): void {
    const next = this.#takeNext();
    if (!next) {
      this.#isScheduled = false;
      return;
    }
    // A socket is destroyed some turns before its `close`.
    if (!next.socket.destroyed) {
      next.beganAt = performance.now();
      // A client gets the port of its connection again when that connection has ended.
      this.#underWay.get(next.key)?.socket.destroy();
      this.#underWay.set(next.key, next);
      this.#begin(next.socket);
    }
    this.#later(() => this.#run());
  }

  #takeNext(): Handshake | undefined {
    if (this.#underWay.size >= maxUnderWay) return undefined;
    const busy = Map.groupBy(this.#underWay.values(), ({ client }) => client);
    for (const [client, handshakes] of this.#waiting) {
      const [next] = handshakes;
      if (!next || (busy.get(client)?.length ?? 0) >= maxUnderWayOfClient) continue;
      handshakes.delete(next);
      this.#waiting.delete(client);
      if (handshakes.size > 0) this.#waiting.set(client, handshakes); // after the others
      return next;
    }
    return undefined;
  }
}
