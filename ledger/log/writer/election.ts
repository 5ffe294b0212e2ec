/**
 * Leader election: the writer is the replica that holds /ipledger/v1/writer, a key on a lease. The
 * election only provides liveness. Safety comes from each append, which compares the head. It also
 * compares the create revision of the writer key, so that a deposed writer stops.
 */
import type { Etcd3 } from 'etcd3';
import { pause } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { watchKey } from '../store/head-watch.ts';
import { writerKey } from '../store/keys.ts';
import { acquireLease } from '../store/etcd-lease.ts';
import type { Revision } from '../store/ledger.ts';

const leaseSettings = { ttlSeconds: 5, renewMs: 1_000, name: 'the writer lease' };
/** The wait after a failed attempt. */
const campaignRetryMs = 500;

/** A replica in the election, as stored in the writer key. */
export interface Candidate {
  readonly replica: string;
  /** host:port of its gRPC API. */
  readonly address: string;
}

/** The time during which this replica is the writer. */
export interface Term {
  /** Create revision of the writer key. */
  readonly revision: Revision;
  /** Aborted when the lease may have expired. */
  readonly signal: AbortSignal;
  /** Ends the term immediately, so that another replica can take over. */
  resign(): Promise<void>;
}

/** Waits until this replica is elected. Rejects only when the signal is aborted. */
export async function campaign(client: Etcd3, candidate: Candidate, signal: AbortSignal, log: Logger): Promise<Term> {
  const elected = new AbortController();
  const changes = watchKey(client, writerKey, AbortSignal.any([signal, elected.signal]))[Symbol.asyncIterator]();
  while (!(await changes.next()).done) {
    try {
      const term = await campaignOnce(client, candidate, signal, log);
      if (term) {
        elected.abort();
        return term;
      }
    } catch (error) {
      log.warn({ err: error }, 'campaign failed: etcd does not reply or rejects writes; retrying');
      await pause(campaignRetryMs, signal);
    }
  }
  return Promise.reject(signal.reason as Error);
}

/** The current writer; undefined if there is none. */
export async function currentWriter(client: Etcd3): Promise<Candidate | undefined> {
  const { kvs } = await client.kv.range({ key: Buffer.from(writerKey) });
  return kvs[0] && (JSON.parse(kvs[0].value.toString('utf8')) as Candidate);
}

/**
 * Reports the current writer, now and after each change, until the signal is aborted. A report may
 * be out of date: a former writer rejects requests with NOT_WRITER.
 */
export async function observeWriter(
  client: Etcd3,
  onWriter: (writer: Candidate | undefined) => void,
  signal: AbortSignal,
  log: Logger,
): Promise<void> {
  const changes = watchKey(client, writerKey, signal)[Symbol.asyncIterator]();
  while (!(await changes.next()).done) {
    try {
      onWriter(await currentWriter(client));
    } catch (error) {
      log.debug({ err: error }, 'reading the writer key failed; retrying');
    }
  }
}

async function campaignOnce(
  client: Etcd3,
  candidate: Candidate,
  signal: AbortSignal,
  log: Logger,
): Promise<Term | undefined> {
  if (await currentWriter(client)) return undefined;
  const lease = await acquireLease(client, { ...leaseSettings, signal, log });
  const key = Buffer.from(writerKey);
  const won = await client.kv
    .txn({
      compare: [{ key, target: 'Create', result: 'Equal', create_revision: '0' }],
      success: [{ request_put: { key, value: Buffer.from(JSON.stringify(candidate)), lease: lease.id } }],
    })
    .catch(async (error: unknown) => {
      // The key may have been written. Revoke its lease, so that it does not block the next
      // candidate.
      await lease.revoke().catch(() => undefined);
      throw error;
    });
  if (!won.succeeded) {
    await lease.revoke();
    return undefined;
  }
  return { revision: BigInt(won.header.revision), signal: lease.signal, resign: () => lease.revoke() };
}
