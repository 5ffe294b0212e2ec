/**
 * A lease in etcd with its own renewal loop. The holder gives it up before etcd expires it, counted from the time when the last
 * successful renewal was sent.
 */
import type { Etcd3, Lease } from 'etcd3';
import { pause } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';

/** The wait after a failed renewal. */
const renewRetryMs = 300;
const renewTimeoutMs = 1_500;
/** The holder gives up this long before etcd, so two replicas never hold the lease, if their clocks run at the same speed. */
const marginMs = 500;
/** Revoking only saves time: without it the lease expires. */
const revokeTimeoutMs = 1_000;

export interface LeaseOptions {
  readonly ttlSeconds: number;
  /** Time between renewals. */
  readonly renewMs: number;
  /** For log lines: "the writer lease". */
  readonly name: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export interface HeldLease {
  readonly id: string;
  /** Aborted when the lease may have expired, and with the signal of the options, after which the lease expires. */
  readonly signal: AbortSignal;
  /** Ends the lease immediately, with every key on it. */
  revoke(): Promise<void>;
}

/** Takes a lease and renews it. @throws the etcd client's error when etcd does not grant it. */
export async function acquireLease(client: Etcd3, options: LeaseOptions): Promise<HeldLease> {
  const grantedAt = performance.now();
  const lease = client.lease(options.ttlSeconds, { autoKeepAlive: false });
  const id = await lease.grant();
  const lost = new AbortController();
  const signal = AbortSignal.any([options.signal, lost.signal]);
  void keepAlive(lease, grantedAt, { ...options, signal }).then(() => lost.abort());
  return {
    id,
    signal,
    revoke: async () => {
      lost.abort();
      await lease.revoke({ deadline: Date.now() + revokeTimeoutMs });
    },
  };
}

/** Resolves when the lease may have expired. */
async function keepAlive(
  lease: Lease,
  grantedAt: number,
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
      await lease.keepaliveOnce({ deadline: Date.now() + Math.min(renewTimeoutMs, remainingMs()) });
      renewedAt = sentAt;
      nextMs = renewMs;
    } catch (error) {
      log.warn({ err: error }, `renewing ${name} failed; retrying`);
      if (lease.revoked()) return;
      nextMs = renewRetryMs;
    }
  }
  log.error(`${name} may have expired: etcd did not renew it in time`);
}
