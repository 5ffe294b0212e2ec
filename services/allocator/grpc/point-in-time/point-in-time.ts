/**
 * Past states of the ledger, each computed by a fold of the log. A fold needs the memory of a second state and much CPU, so only
 * two run at a time. Further requests are rejected and not queued, so that the replica can serve all other calls.
 */
import { pause } from '../../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../../lib/errors.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { ArchivedLedger } from '../../../../ledger/archive/archived-ledger.ts';
import {
  initialStateAtHead,
  fold,
  type FoldOptions,
  type StateAtHead,
  type FoldEnd,
} from '../../../../ledger/log/reader/fold.ts';
import type { Replica } from '../../../../ledger/log/reader/replica.ts';
import { readInstant } from '../../../../lib/grpc/server/read-request.ts';

const maxConcurrent = 2;
const keepaliveMs = 5_000;
/** Tolerance for a caller's clock that is ahead of ledger time. */
const maxAheadMs = 60_000;

export class PointInTimeReader {
  readonly #replica: Replica;
  #running = 0;

  constructor(replica: Replica) {
    this.#replica = replica;
  }

  /**
   * Runs a request that needs a fold or a verification, and yields its replies.
   * @throws IpledgerError OVERLOADED when two are running.
   */
  async *runLimited<Reply>(run: () => AsyncIterable<Reply>): AsyncGenerator<Reply> {
    if (this.#running >= maxConcurrent)
      throw new IpledgerError(
        'OVERLOADED',
        `this replica already runs ${maxConcurrent} queries of past states or verifications, and that is the limit: try again later, or call another replica`,
      );
    this.#running++;
    try {
      yield* run();
    } finally {
      this.#running--;
    }
  }

  /**
   * Folds the log up to a point in time, from a state or from the nearest state in the archive.
   * @throws IpledgerError as fold.
   */
  async foldTo(to: FoldEnd, options: FoldOptions, from?: StateAtHead): Promise<StateAtHead> {
    const { ledger } = this.#replica;
    const nearest = () =>
      ledger instanceof ArchivedLedger ? ledger.lastEndState(to, options.signal) : initialStateAtHead();
    return fold(ledger, from ?? (await nearest()), to, options);
  }

  /** Reads a PointInTime message. @throws IpledgerError INVALID_REQUEST for an invalid or a future one. */
  readPointInTime(name: string, point: api.PointInTime | undefined): FoldEnd {
    const at = readInstant(`${name}.at`, point?.at ?? '');
    const seq = point?.seq ?? 0;
    if (at !== undefined && seq > 0) throw new IpledgerError('INVALID_REQUEST', `${name}: set seq or at, not both`);
    if (seq > 0) return { seq };
    if (at === undefined) return 'end';
    const now = this.#replica.clock.read();
    if (at > Math.max(now.at, now.clock) + maxAheadMs)
      throw new IpledgerError('INVALID_REQUEST', `${name}: ${new Date(at).toISOString()} is in the future`);
    return { at };
  }
}

/** Yields keepalives until a promise is settled: clients take a long silence for a broken stream. */
export async function* keepaliveUntilSettled<Keepalive>(
  work: Promise<unknown>,
  keepalive: () => Keepalive,
): AsyncGenerator<Keepalive> {
  const settled = new AbortController();
  const end = (): void => settled.abort();
  work.then(end, end);
  for (;;) {
    await pause(keepaliveMs, settled.signal);
    if (settled.signal.aborted) return;
    yield keepalive();
  }
}
