/**
 * A lease in etcd with its own renewal loop. The holder gives up the lease before etcd lets it
 * expire, counted from the time when the last successful renewal was sent.
 */
import type { Duplex } from 'node:stream';
import type { Metadata } from '@grpc/grpc-js';
import { castGrpcError, EtcdInvalidAuthTokenError, EtcdLeaseInvalidError, type Etcd3 } from 'etcd3';
import { pause } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { type EtcdHost, poolOf } from './connection-pool.ts';

/** The wait after a failed renewal. */
const renewRetryMs = 300;
const renewTimeoutMs = 1_500;
/** The holder gives up this much earlier than etcd, so that two replicas never hold the lease. */
const marginMs = 500;
/** Short, because revoking only saves time: the lease would expire anyway. */
const revokeTimeoutMs = 1_000;

export interface LeaseOptions {
  readonly ttlSeconds: number;
  /** The time between renewals. */
  readonly renewMs: number;
  /** The name of the lease in log lines, such as "the writer lease". */
  readonly name: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export interface HeldLease {
  readonly id: string;
  /** Aborted when the lease may have expired, or the signal of the options is aborted. */
  readonly signal: AbortSignal;
  /** Ends the lease immediately, and with it every key on it. */
  revoke(): Promise<void>;
}

/** Takes a lease and renews it. @throws the etcd client's error if etcd does not grant it */
export async function acquireLease(client: Etcd3, options: LeaseOptions): Promise<HeldLease> {
  const grantedAt = performance.now();
  const { ID: id } = await client.leaseClient.leaseGrant({ TTL: options.ttlSeconds });
  const lost = new AbortController();
  const signal = AbortSignal.any([options.signal, lost.signal]);
  void keepAlive({ client, id, grantedAt }, { ...options, signal }).then(() => lost.abort());
  return {
    id,
    signal,
    revoke: async () => {
      lost.abort();
      await client.leaseClient.leaseRevoke({ ID: id }, { deadline: Date.now() + revokeTimeoutMs }).catch(ignoreExpired);
    },
  };
}

interface GrantedLease {
  readonly client: Etcd3;
  readonly id: string;
  readonly grantedAt: number;
}

/** Renews the lease. Resolves when the lease may have expired. */
async function keepAlive(
  { client, id, grantedAt }: GrantedLease,
  { ttlSeconds, renewMs, name, signal, log }: LeaseOptions,
): Promise<void> {
  let renewedAt = grantedAt;
  let nextMs = renewMs;
  const remainingMs = (): number => renewedAt + ttlSeconds * 1000 - marginMs - performance.now();
  for (;;) {
    await pause(Math.max(0, Math.min(nextMs, remainingMs())), signal);
    if (signal.aborted) return;
    if (remainingMs() <= 0) break;
    const sentAt = performance.now();
    try {
      const isAlive = await renew(client, id, Date.now() + Math.min(renewTimeoutMs, remainingMs()));
      if (!isAlive) break;
      renewedAt = sentAt;
      nextMs = renewMs;
    } catch (error) {
      log.warn({ err: error }, `renewing ${name} failed; retrying`);
      nextMs = renewRetryMs;
    }
  }
  log.error(`${name} may have expired: etcd did not renew it in time`);
}

/** Renews at two members, because one may be silent. Resolves to whether the lease exists. */
async function renew(client: Etcd3, id: string, deadline: number): Promise<boolean> {
  const pool = poolOf(client);
  const order = pool.shuffledHosts();
  const hosts = new Set([order.next().value, order.next().value]);
  const metadata = await pool.authenticator.getMetadata();
  try {
    // A follower of etcd forwards the renewal to the leader, and waits if the leader is lost.
    const renewals = [...hosts].map((host) =>
      host.faultHandling.execute(() => renewAt(host, id, { metadata, deadline })),
    );
    return await Promise.any(renewals);
  } catch (error) {
    const [first] = (error as AggregateError).errors as [Error];
    if (first instanceof EtcdInvalidAuthTokenError) pool.authenticator.invalidateMetadata();
    throw first;
  }
}

interface RenewalStream extends Duplex {
  cancel(): void;
}

type KeepAliveMethod = (metadata: Metadata, options: { readonly deadline: number }) => RenewalStream;

async function renewAt(
  host: EtcdHost,
  id: string,
  { metadata, deadline }: { readonly metadata: Metadata; readonly deadline: number },
): Promise<boolean> {
  const service = host.getServiceClient('Lease') as unknown as { leaseKeepAlive: KeepAliveMethod };
  const stream = service.leaseKeepAlive(metadata, { deadline });
  try {
    return await new Promise<boolean>((resolve, reject) => {
      stream.on('data', ({ TTL }: { readonly TTL: string }) => resolve(TTL !== '0'));
      stream.on('error', (error) => reject(castGrpcError(error)));
      stream.write({ ID: id });
    });
  } finally {
    stream.end();
  }
}

/** Ignores that the lease to revoke has already expired. */
function ignoreExpired(error: unknown): void {
  if (!(error instanceof EtcdLeaseInvalidError)) throw error;
}
