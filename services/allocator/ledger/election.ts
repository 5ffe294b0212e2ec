/**
 * Who writes: whoever holds /ipledger/v1/writer, a key on a lease. For liveness only. Safety is the append's compare of the
 * head; that it also compares this key's create revision just keeps a deposed writer from duelling.
 */
import type { Etcd3, Lease } from 'etcd3';
import { pause } from '../../../lib/deadline.ts';
import type { Logger } from '../../../lib/log.ts';
import { writerKey } from './keys.ts';
import type { Revision } from './ledger.ts';

const leaseSeconds = 5;
const renewMs = 1_500;
/** Handing over at once is a courtesy: without it the lease ends by itself. */
const resignTimeoutMs = 1_000;
/** After a renewal that failed. */
const renewAgainMs = 300;
const renewTimeoutMs = 1_500;
/** Given up this long before etcd would, so that two never believe it at once if their clocks run alike. */
const marginMs = 500;
const campaignMs = 500;

/** Who a writer says it is. */
export interface Candidate {
  readonly replica: string;
  /** Where its gRPC API is reached. */
  readonly address: string;
}

/** What being elected gives. */
export interface Term {
  /** Create revision of the writer key. */
  readonly revision: Revision;
  /** Aborted when the lease is lost, or may be. */
  readonly signal: AbortSignal;
  /** Hands over at once. */
  resign(): Promise<void>;
}

/** Waits to be the writer. Rejects only when the signal is aborted. */
export async function campaign(client: Etcd3, candidate: Candidate, signal: AbortSignal, log: Logger): Promise<Term> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const term = await standOnce(client, candidate, signal, log);
      if (term) return term;
    } catch (error) {
      log.warn({ err: error }, 'campaign: etcd does not answer');
    }
    await pause(campaignMs, signal);
  }
}

/** Who is the writer now; undefined when nobody is. */
export async function currentWriter(client: Etcd3): Promise<Candidate | undefined> {
  const { kvs } = await client.kv.range({ key: Buffer.from(writerKey) });
  return kvs[0] && (JSON.parse(kvs[0].value.toString('utf8')) as Candidate);
}

async function standOnce(
  client: Etcd3,
  candidate: Candidate,
  signal: AbortSignal,
  log: Logger,
): Promise<Term | undefined> {
  if (await currentWriter(client)) return undefined;
  const grantedAt = performance.now();
  const lease = client.lease(leaseSeconds, { autoKeepAlive: false });
  const id = await lease.grant();
  const key = Buffer.from(writerKey);
  const won = await client.kv
    .txn({
      compare: [{ key, target: 'Create', result: 'Equal', create_revision: '0' }],
      success: [{ request_put: { key, value: Buffer.from(JSON.stringify(candidate)), lease: id } }],
    })
    .catch(async (error: unknown) => {
      // Perhaps it happened; without its lease the key does not stand in the next one's way.
      await lease.revoke().catch(() => undefined);
      throw error;
    });
  if (!won.succeeded) {
    await lease.revoke();
    return undefined;
  }
  const lost = new AbortController();
  void keepAlive(lease, grantedAt, AbortSignal.any([signal, lost.signal]), log).then(() => lost.abort());
  return {
    revision: BigInt(won.header.revision),
    signal: AbortSignal.any([signal, lost.signal]),
    resign: async () => {
      lost.abort();
      await lease.revoke({ deadline: Date.now() + resignTimeoutMs });
    },
  };
}

/** Returns when the lease may have ended, counted from when its last renewal that succeeded was sent. */
async function keepAlive(lease: Lease, grantedAt: number, signal: AbortSignal, log: Logger): Promise<void> {
  let renewedAt = grantedAt;
  let nextMs = renewMs;
  const leftMs = (): number => renewedAt + leaseSeconds * 1000 - marginMs - performance.now();
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
      log.warn({ err: error }, 'the writer lease could not be renewed');
      if (lease.revoked()) return;
      nextMs = renewAgainMs;
    }
  }
  log.error('the writer lease may have ended: stepping down');
}
