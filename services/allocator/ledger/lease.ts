/**
 * A lease in etcd, kept alive by our own loop: it is given up a moment before etcd would, counted from when its last renewal
 * that succeeded was sent.
 */
import type { Etcd3, Lease } from 'etcd3';
import { pause } from '../../../lib/deadline.ts';
import type { Logger } from '../../../lib/log.ts';

/** After a renewal that failed. */
const renewAgainMs = 300;
const renewTimeoutMs = 1_500;
/** Given up this long before etcd would, so that two never believe they hold it at once, as long as their clocks run at one speed. */
const marginMs = 500;
/** Ending a lease is a courtesy: without it the lease ends by itself. */
const endTimeoutMs = 1_000;

export interface LeaseOptions {
  readonly seconds: number;
  /** How often it is renewed. */
  readonly renewMs: number;
  /** For the log: "the writer lease". */
  readonly name: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export interface HeldLease {
  readonly id: string;
  /** Aborted when the lease is lost, or may be; and with the signal of the options, which leaves it to run out. */
  readonly signal: AbortSignal;
  /** Ends it at once, with every key on it. */
  end(): Promise<void>;
}

/** Takes a lease and keeps it. @throws whatever etcd's client throws when it cannot be had. */
export async function takeLease(client: Etcd3, options: LeaseOptions): Promise<HeldLease> {
  const grantedAt = performance.now();
  const lease = client.lease(options.seconds, { autoKeepAlive: false });
  const id = await lease.grant();
  const lost = new AbortController();
  const signal = AbortSignal.any([options.signal, lost.signal]);
  void keepAlive(lease, grantedAt, { ...options, signal }).then(() => lost.abort());
  return {
    id,
    signal,
    end: async () => {
      lost.abort();
      await lease.revoke({ deadline: Date.now() + endTimeoutMs });
    },
  };
}

/** Returns when the lease may have ended. */
async function keepAlive(
  lease: Lease,
  grantedAt: number,
  { seconds, renewMs, name, signal, log }: LeaseOptions,
): Promise<void> {
  let renewedAt = grantedAt;
  let nextMs = renewMs;
  const leftMs = (): number => renewedAt + seconds * 1000 - marginMs - performance.now();
  for (;;) {
    await pause(Math.max(0, Math.min(nextMs, leftMs())), signal);
    if (signal.aborted) return;
    if (leftMs() <= 0) break;
    const sentAt = performance.now();
    try {
      await lease.keepaliveOnce({ deadline: Date.now() + Math.min(renewTimeoutMs, leftMs()) });
      renewedAt = sentAt;
      nextMs = renewMs;
    } catch (error) {
      log.warn({ err: error }, `${name} could not be renewed`);
      if (lease.revoked()) return;
      nextMs = renewAgainMs;
    }
  }
  log.error(`${name} may have ended`);
}
