/**
 * The ledger at a moment of the past: the log folded up to there. Each fold takes the memory of one more state and much of a
 * processor, so only a few run at a time, and the next is refused rather than queued: the replica goes on deciding and answering.
 */
import { pause } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type * as api from '../../../proto/ipledger.ts';
import { ArchivedLedger } from '../archive/archived-ledger.ts';
import { beginning, fold, type FoldOptions, type Place, type Until } from '../ledger/fold.ts';
import type { Replica } from '../ledger/replica.ts';
import { readInstant } from '../../../lib/serving/read.ts';

const mostAtATime = 2;
const signOfLifeMs = 5_000;
/** A caller's clock may be this far ahead of the ledger's: nobody compares the two. */
const mostAheadMs = 60_000;

export class TimeTravel {
  readonly #replica: Replica;
  #travelling = 0;

  constructor(replica: Replica) {
    this.#replica = replica;
  }

  /**
   * Runs what needs such a fold, and hands its replies on.
   * @throws IpledgerError OVERLOADED when as many are running as may.
   */
  async *run<Reply>(answer: () => AsyncIterable<Reply>): AsyncGenerator<Reply> {
    if (this.#travelling >= mostAtATime)
      throw new IpledgerError(
        'OVERLOADED',
        `${mostAtATime} questions about states of the past are being answered here already: try again later, or ask another replica`,
      );
    this.#travelling++;
    try {
      yield* answer();
    } finally {
      this.#travelling--;
    }
  }

  /**
   * Goes on from a place to a moment; without one, from the last that the archive keeps a state of.
   * @throws IpledgerError as fold.
   */
  async go(to: Until, options: FoldOptions, from?: Place): Promise<Place> {
    const { ledger } = this.#replica;
    const nearest = () => (ledger instanceof ArchivedLedger ? ledger.placeBefore(to, options.signal) : beginning());
    return fold(ledger, from ?? (await nearest()), to, options);
  }

  /** Which moment a message means. @throws IpledgerError INVALID_REQUEST for none, and for one that is yet to come. */
  readMoment(name: string, moment: api.Moment | undefined): Until {
    const at = readInstant(`${name}.at`, moment?.at ?? '');
    const seq = moment?.seq ?? 0;
    if (at !== undefined && seq > 0)
      throw new IpledgerError('INVALID_REQUEST', `${name}: an event or an instant, not both`);
    if (seq > 0) return { seq };
    if (at === undefined) return 'end';
    const now = this.#replica.clock.read();
    if (at > Math.max(now.at, now.clock) + mostAheadMs)
      throw new IpledgerError('INVALID_REQUEST', `${name}: ${new Date(at).toISOString()} is yet to come`);
    return { at };
  }
}

/** Signs of life until a promise is settled: whoever reads a stream takes a long silence for its end. */
export async function* patiently<Sign>(work: Promise<unknown>, sign: () => Sign): AsyncGenerator<Sign> {
  const settled = new AbortController();
  const end = (): void => settled.abort();
  work.then(end, end);
  for (;;) {
    await pause(signOfLifeMs, settled.signal);
    if (settled.signal.aborted) return;
    yield sign();
  }
}
