/** The leases of the model of etcd. */
import { status } from '@grpc/grpc-js';
import { EtcdRefusal } from './etcd-refusal.ts';

/** What the model needs of its surroundings. */
export interface EtcdSurroundings {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  after(ms: number, act: () => void): () => void;
}

interface Lease {
  readonly ttlSeconds: number;
  readonly keys: Set<string>;
  expiresAt: number;
  stopTimer: () => void;
}

/** A lease in a backup. */
export interface LeaseBackup {
  readonly id: string;
  readonly ttlSeconds: number;
  readonly keys: ReadonlySet<string>;
}

/** etcd grants no shorter lease, with its default timeouts. */
const minTtlSeconds = 2;
/** etcd looks for expired leases twice a second. */
const sweepMs = 500;

export const leaseNotFound = (): EtcdRefusal =>
  new EtcdRefusal(status.NOT_FOUND, 'etcdserver: requested lease not found');

export class Leases {
  readonly #surroundings: EtcdSurroundings;
  readonly #removeKeys: (keys: readonly string[]) => void;
  readonly #leases = new Map<string, Lease>();
  #lastId = 7_587_000_000_000;

  /** @param removeKeys deletes the keys of a lease that ended */
  constructor(surroundings: EtcdSurroundings, removeKeys: (keys: readonly string[]) => void) {
    this.#surroundings = surroundings;
    this.#removeKeys = removeKeys;
  }

  grant(seconds: number, requestedId: string): { readonly ID: string; readonly TTL: number } {
    const id = requestedId === '0' ? String(++this.#lastId) : requestedId;
    if (this.#leases.has(id)) throw new EtcdRefusal(status.FAILED_PRECONDITION, 'etcdserver: lease already exists');
    const ttlSeconds = Math.max(minTtlSeconds, seconds);
    const lease = { ttlSeconds, keys: new Set<string>(), expiresAt: 0, stopTimer: () => undefined };
    this.#leases.set(id, lease);
    this.#begin(id, lease);
    return { ID: id, TTL: ttlSeconds };
  }

  has(id: string): boolean {
    return this.#leases.has(id);
  }

  attach(key: string, id: string): void {
    this.#leases.get(id)?.keys.add(key);
  }

  detach(key: string, id: string | undefined): void {
    if (id !== undefined) this.#leases.get(id)?.keys.delete(key);
  }

  revoke(id: string): void {
    if (!this.#leases.has(id)) throw leaseNotFound();
    this.#end(id);
  }

  /** Returns the new TTL; 0 if the lease has ended. */
  renew(id: string): number {
    const lease = this.#leases.get(id);
    if (!lease || this.#surroundings.now() >= lease.expiresAt) return 0;
    this.#begin(id, lease);
    return lease.ttlSeconds;
  }

  /** Leases begin again after an election. */
  restart(): void {
    for (const [id, lease] of this.#leases) this.#begin(id, lease);
  }

  /** The leases with their keys, for a backup. */
  backup(): LeaseBackup[] {
    return [...this.#leases].map(([id, { ttlSeconds, keys }]) => ({ id, ttlSeconds, keys: new Set(keys) }));
  }

  /** Replaces all leases by those of a backup, which begin again. */
  restore(leases: readonly LeaseBackup[]): void {
    for (const { stopTimer } of this.#leases.values()) stopTimer();
    this.#leases.clear();
    for (const { id, ttlSeconds, keys } of leases) {
      const lease = { ttlSeconds, keys: new Set(keys), expiresAt: 0, stopTimer: () => undefined };
      this.#leases.set(id, lease);
      this.#begin(id, lease);
    }
  }

  #begin(id: string, lease: Lease): void {
    lease.stopTimer();
    lease.expiresAt = this.#surroundings.now() + lease.ttlSeconds * 1_000;
    lease.stopTimer = this.#surroundings.after(lease.ttlSeconds * 1_000 + sweepMs, () => this.#end(id));
  }

  #end(id: string): void {
    const lease = this.#leases.get(id);
    if (!lease) return;
    lease.stopTimer();
    this.#leases.delete(id);
    this.#removeKeys([...lease.keys]);
  }
}
