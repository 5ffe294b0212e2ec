/** Limits the connections of a server, so that no client can keep others out. */
import { isIPv6, type Socket } from 'node:net';
import { addTo, removeFrom } from '../maps.ts';
import { networkAddressOf } from './ip.ts';

/**
 * Holds connections. Beyond the maximum, it closes the oldest connection of the client that has
 * most. So a new connection is always accepted, and a client with few connections keeps them. A
 * client is an IPv4 address, or the /64 network of an IPv6 address.
 */
export class ConnectionSlots {
  readonly #max: number;
  /** The connections of each client, in order of arrival. */
  readonly #clients = new Map<string, Set<Socket>>();
  /** The clients by number of connections, to find the client with most. */
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
    if (remoteAddress === undefined) return; // the connection has closed
    const client = clientOf(remoteAddress);
    const held = this.#clients.get(client) ?? new Set();
    this.#clients.set(client, held.add(socket));
    this.#resize(client, held.size - 1, held.size);
    this.#count++;
    socket.once('close', () => this.#remove(client, socket));
    if (this.#count > this.#max) this.#closeOldest();
  }

  /** Stops counting a connection. */
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
    // Each step changes a client's count by one, so the largest count changes by one at most.
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
export function clientOf(address: string): string {
  const text = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  return isIPv6(text) ? networkAddressOf(`${text}/64`) : text;
}
