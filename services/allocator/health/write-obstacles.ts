/**
 * Finds why nothing can be written to the ledger: for `ipledger status` and `why`, CNI errors and
 * the alarm of the pod-watcher. Each replica finds it alone, because a full etcd has no writer. It
 * reads etcd when a caller needs the reason, once for all callers.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { rejectWhenAborted, timeoutSignal } from '../../../lib/process/abortable.ts';
import { writeAlarms } from '../../../ledger/log/store/etcd-transaction.ts';
import type { FreezeStore } from '../../../ledger/log/store/ledger.ts';
import { type EtcdSpace, reservedMessage } from './etcd-space.ts';
import { type LastWriter, maxWithoutWriterMs } from './health.ts';

export interface WriteObstacle {
  readonly reason: (typeof writeAlarms)[number]['reason'] | 'etcd-nearly-full' | 'no-writer' | 'frozen';
  /**
   * The problem, and what to do. Of this text, a CNI error for a Pod with the longest names holds
   * up to 140 bytes.
   */
  readonly message: string;
  /** The time in RFC 3339. */
  readonly since: string;
}

export interface WriteObstacleOptions {
  /** The errors in an etcd member's status, such as "memberID:1 alarm:NOSPACE". */
  readonly readAlarms: () => Promise<readonly string[]>;
  readonly freezeStore: Pick<FreezeStore, 'readFreeze'>;
  readonly lastWriter: Pick<LastWriter, 'agoMs'>;
  /** The space left in etcd. */
  readonly space?: Pick<EtcdSpace, 'reservedSince'>;
  /** How old an answer may be. Default: 2 s. */
  readonly maxAgeMs?: number;
}

const defaultMaxAgeMs = 2_000;
/** The time limit of a read: etcd answers none without a quorum. */
const readTimeoutMs = 2_000;

export class WriteObstacles {
  readonly #options: WriteObstacleOptions;
  #lookedAt = -Infinity;
  #latest: Promise<WriteObstacle | undefined> = Promise.resolve(undefined);
  #ofAlarm: WriteObstacle | undefined;

  constructor(options: WriteObstacleOptions) {
    this.#options = options;
  }

  /** Resolves to undefined if the ledger can be written, or the reason is unknown. */
  find(): Promise<WriteObstacle | undefined> {
    const now = performance.now();
    if (now - this.#lookedAt >= (this.#options.maxAgeMs ?? defaultMaxAgeMs)) {
      this.#lookedAt = now;
      this.#latest = this.#look();
    }
    return this.#latest;
  }

  /** Checks alarms first: during an alarm, no writer is elected and nothing can be recovered. */
  async #look(): Promise<WriteObstacle | undefined> {
    const { freezeStore, readAlarms, lastWriter, space } = this.#options;
    const signal = timeoutSignal(readTimeoutMs);
    const [alarms, freeze] = await Promise.all([
      rejectWhenAborted(readAlarms(), signal).catch(() => []),
      freezeStore.readFreeze(signal).catch(() => undefined),
    ]);
    this.#ofAlarm = this.#obstacleOf(alarms);
    if (this.#ofAlarm) return this.#ofAlarm;
    const since = space?.reservedSince;
    if (since !== undefined) return { reason: 'etcd-nearly-full', message: reservedMessage, since: toInstant(since) };
    const withoutWriterMs = lastWriter.agoMs;
    if (withoutWriterMs >= maxWithoutWriterMs)
      return { reason: 'no-writer', message: noWriterMessage, since: toInstant(Date.now() - withoutWriterMs) };
    return freeze && { reason: 'frozen', message: frozenMessage, since: freeze.at };
  }

  #obstacleOf(alarms: readonly string[]): WriteObstacle | undefined {
    // etcd before version 3.7 ends the text of an alarm with a space.
    const found = writeAlarms.find(({ alarm }) => alarms.some((text) => text.includes(`alarm:${alarm}`)));
    if (!found) return undefined;
    const { reason, message } = found;
    const since = this.#ofAlarm?.reason === reason ? this.#ofAlarm.since : toInstant(Date.now());
    return { reason, message, since };
  }
}

const toInstant = (ms: number): string => new Date(ms).toISOString();

const noWriterMessage =
  'no allocator is the writer: no address can be allocated or released. Follow the runbook IpledgerNoWriter';
const frozenMessage = 'the ledger is frozen: no address can be allocated or released. Run: ipledger recover';

/** The error of a call that was not executed for this reason. */
export const notWritable = ({ message }: WriteObstacle): IpledgerError =>
  new IpledgerError('LEDGER_NOT_WRITABLE', message);
