/**
 * Why nothing can be written to the ledger: for `ipledger status` and `why`, CNI errors and the alarm of the pod-watcher. Each
 * replica looks by itself, because a full etcd has no writer. It looks when a caller needs the reason, once for all callers.
 */
import { IpledgerError } from '../../lib/errors.ts';
import { rejectWhenAborted, timeoutSignal } from '../../lib/process/abortable.ts';
import { etcdFullMessage } from '../../ledger/log/store/etcd-transaction.ts';
import type { FreezeStore } from '../../ledger/log/store/ledger.ts';
import { maxWithoutWriterMs } from './health.ts';

export interface WriteObstacle {
  readonly reason: 'etcd-full' | 'no-writer' | 'frozen';
  /** What is wrong, and what to do. A CNI error holds up to 140 bytes of it for a Pod with the longest names. */
  readonly message: string;
  /** RFC 3339. */
  readonly since: string;
}

export interface WriteObstacleOptions {
  /** The alarms in the status of a member of etcd, as "memberID:1 alarm:NOSPACE". */
  readonly readAlarms: () => Promise<readonly string[]>;
  readonly freezeStore: Pick<FreezeStore, 'readFreeze'>;
  /** Milliseconds since a writer existed. */
  readonly sinceWriterSeenMs: () => number;
  /** How old an answer may be. Default: 2 s. */
  readonly maxAgeMs?: number;
  /** When this replica started, on the clock of performance.now(). Default: now. */
  readonly startedAt?: number;
}

const defaultMaxAgeMs = 2_000;
/** etcd without a quorum answers no read. */
const readTimeoutMs = 2_000;

export class WriteObstacles {
  readonly #options: WriteObstacleOptions;
  readonly #startedAt: number;
  #lookedAt = -Infinity;
  #latest: Promise<WriteObstacle | undefined> = Promise.resolve(undefined);
  #fullSince: string | undefined;

  constructor(options: WriteObstacleOptions) {
    this.#options = options;
    this.#startedAt = options.startedAt ?? performance.now();
  }

  /** Resolves to undefined if the ledger can be written, or the reason is not known. Does not reject. */
  find(): Promise<WriteObstacle | undefined> {
    const now = performance.now();
    if (now - this.#lookedAt >= (this.#options.maxAgeMs ?? defaultMaxAgeMs)) {
      this.#lookedAt = now;
      this.#latest = this.#look();
    }
    return this.#latest;
  }

  /** The first cause first: a full etcd elects no writer, and without a writer no ledger is recovered. */
  async #look(): Promise<WriteObstacle | undefined> {
    const { freezeStore, readAlarms, sinceWriterSeenMs } = this.#options;
    const signal = timeoutSignal(readTimeoutMs);
    const [alarms, freeze] = await Promise.all([
      rejectWhenAborted(readAlarms(), signal).catch(() => []),
      freezeStore.readFreeze(signal).catch(() => undefined),
    ]);
    const isFull = alarms.some((alarm) => alarm.endsWith('alarm:NOSPACE'));
    this.#fullSince = isFull ? (this.#fullSince ?? toInstant(Date.now())) : undefined;
    if (this.#fullSince !== undefined) return { reason: 'etcd-full', message: etcdFullMessage, since: this.#fullSince };
    // A replica that has just started has not seen a writer yet
    const withoutWriterMs = Math.min(sinceWriterSeenMs(), performance.now() - this.#startedAt);
    if (withoutWriterMs >= maxWithoutWriterMs)
      return { reason: 'no-writer', message: noWriterMessage, since: toInstant(Date.now() - withoutWriterMs) };
    return freeze && { reason: 'frozen', message: frozenMessage, since: freeze.at };
  }
}

const toInstant = (ms: number): string => new Date(ms).toISOString();

const noWriterMessage =
  'no allocator is the writer: no address can be allocated or released. Follow the runbook IpledgerNoWriter';
const frozenMessage = 'the ledger is frozen: no address can be allocated or released. Run: ipledger recover';

/** The error of a call for this reason. The call was not executed. */
export const notWritable = ({ message }: WriteObstacle): IpledgerError =>
  new IpledgerError('LEDGER_NOT_WRITABLE', message);
