/**
 * Who writes: whoever holds /ipledger/v1/writer, a key on a lease. For liveness only. Safety is the append's compare of the
 * head; that it also compares this key's create revision just keeps a deposed writer from duelling.
 */
import type { Etcd3 } from 'etcd3';
import { pause } from '../../../lib/deadline.ts';
import type { Logger } from '../../../lib/log.ts';
import { bellOf } from './bell.ts';
import { writerKey } from './keys.ts';
import { takeLease } from './lease.ts';
import type { Revision } from './ledger.ts';

const lease = { seconds: 5, renewMs: 1_500, name: 'the writer lease' };
/** After a try that failed. */
const campaignAgainMs = 500;

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
  const elected = new AbortController();
  const bell = bellOf(client, writerKey, AbortSignal.any([signal, elected.signal]))[Symbol.asyncIterator]();
  while (!(await bell.next()).done) {
    try {
      const term = await standOnce(client, candidate, signal, log);
      if (term) {
        elected.abort();
        return term;
      }
    } catch (error) {
      log.warn({ err: error }, 'campaign: etcd does not answer, or takes no writes');
      await pause(campaignAgainMs, signal);
    }
  }
  return Promise.reject(signal.reason as Error);
}

/** Who is the writer now; undefined when nobody is. */
export async function currentWriter(client: Etcd3): Promise<Candidate | undefined> {
  const { kvs } = await client.kv.range({ key: Buffer.from(writerKey) });
  return kvs[0] && (JSON.parse(kvs[0].value.toString('utf8')) as Candidate);
}

/**
 * Tells who is the writer, now and whenever that changes; until the signal is aborted. By the time that it is told another may
 * be the writer: whoever acts on it is told so by the one that it asks.
 */
export async function observeWriter(
  client: Etcd3,
  tell: (writer: Candidate | undefined) => void,
  signal: AbortSignal,
  log: Logger,
): Promise<void> {
  const bell = bellOf(client, writerKey, signal)[Symbol.asyncIterator]();
  while (!(await bell.next()).done) {
    try {
      tell(await currentWriter(client));
    } catch (error) {
      log.debug({ err: error }, 'who is the writer could not be read');
    }
  }
}

async function standOnce(
  client: Etcd3,
  candidate: Candidate,
  signal: AbortSignal,
  log: Logger,
): Promise<Term | undefined> {
  if (await currentWriter(client)) return undefined;
  const held = await takeLease(client, { ...lease, signal, log });
  const key = Buffer.from(writerKey);
  const won = await client.kv
    .txn({
      compare: [{ key, target: 'Create', result: 'Equal', create_revision: '0' }],
      success: [{ request_put: { key, value: Buffer.from(JSON.stringify(candidate)), lease: held.id } }],
    })
    .catch(async (error: unknown) => {
      // Perhaps it happened; without its lease the key does not stand in the next one's way.
      await held.end().catch(() => undefined);
      throw error;
    });
  if (!won.succeeded) {
    await held.end();
    return undefined;
  }
  return { revision: BigInt(won.header.revision), signal: held.signal, resign: () => held.end() };
}
