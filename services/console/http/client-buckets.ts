/** A token bucket for each client: an IPv4 address, or the /64 network of an IPv6 address. */
import type { Socket } from 'node:net';
import { storeNewest } from '../../../lib/maps.ts';
import { clientOf } from '../../../lib/net/connection-slots.ts';
import { type BucketLimit, TokenBucket } from '../../../lib/process/token-bucket.ts';

export class ClientBuckets {
  readonly #limit: BucketLimit;
  readonly #maxClients: number;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(limit: BucketLimit, maxClients: number) {
    this.#limit = limit;
    this.#maxClients = maxClients;
  }

  /** Returns false if the bucket of the client is empty. */
  take({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): boolean {
    const client = clientOf(remoteAddress);
    const bucket = this.#buckets.get(client) ?? new TokenBucket(this.#limit, performance.now());
    storeNewest(this.#buckets, client, bucket, this.#maxClients);
    return bucket.take(performance.now());
  }
}
