/** Bounds the connections of a server, so that no client keeps others out. */
import { isIPv6, type Socket } from 'node:net';
import { addTo, removeFrom } from '../maps.ts';
import { networkAddressOf } from './ip.ts';

/**
 * Holds connections. Beyond the maximum it closes the oldest one of the client that has most, which
 * may be the newest client: a new connection is always accepted, and a client with few keeps them.
 * A client is an IPv4 address, or the /64 network of an IPv6 address.
 */
export class ConnectionSlots {
  readonly #max: number;
  /** The connections by client, sorted by arrival. */
  readonly #clients = new Map<string, Set<Socket>>();
  /** The clients by number of connections, to find the client with most of them. */
  readonly #bySize = new Map<number, Set<string>>();
  #most = 0;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get count(): number {
    return this.#count;
  }

  /** Holds a connection until it closes or is released. */
  hold(socket: Socket): void {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) return; // it is closed already
    const client = clientOf(remoteAddress);
    const held = this.#clients.get(client) ?? new Set();
    this.#clients.set(client, held.add(socket));
    this.#resize(client, held.size - 1, held.size);
    this.#count++;
    socket.once('close', () => this.#remove(client, socket));
    if (this.#count > this.#max) this.#closeOldest();
  }

  /** Counts a connection no more. */
  release(socket: Socket): void {
    if (socket.remoteAddress !== undefined) this.#remove(clientOf(socket.remoteAddress), socket);
  }

  #remove(client: string, socket: Socket): void {
    const held = this.#clients.get(client);
    if (!held?.delete(socket)) return;
    this.#count--;
    this.#resize(client, held.size + 1, held.size);
    if (held.size === 0) this.#clients.delete(client);
  }

  #resize(client: string, before: number, after: number): void {
    removeFrom(this.#bySize, before, client);
    if (after > 0) addTo(this.#bySize, after, client);
    // Each step changes a size by one, so the largest size changes by one.
    if (after > this.#most || !this.#bySize.has(this.#most)) this.#most = after;
  }

  #closeOldest(): void {
    const [client = ''] = this.#bySize.get(this.#most) ?? [];
    const [oldest] = this.#clients.get(client) ?? [];
    if (!oldest) return;
    this.#remove(client, oldest);
    oldest.destroy();
  }
}

/** An IPv6 host has all addresses of its /64. Listeners on [::] show IPv4 as ::ffff:10.0.0.1. */
function clientOf(address: string): string {
  const text = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  return isIPv6(text) ? networkAddressOf(`${text}/64`) : text;
}
