/**
 * A standby at work: follows the log, and answers questions from its state, which holds nothing but committed events.
 *
 * A question that must be answered as of now waits for a look at etcd's head that begins after it was asked, and for the events
 * up to there; all that were asked while one look was on its way share the next. While etcd does not answer, nobody is answered.
 */
import { pause, untilCalled } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import type { State } from '../domain/state.ts';
import { Refused } from '../domain/refusal.ts';
import type { Proven } from './ask.ts';
import type { Replica } from './replica.ts';

const mostWaiting = 20_000;
/** How long to wait after a look that failed. */
const lookAgainMs = 200;
/** How often it is checked whose patience has ended. */
const sweepMs = 100;

/** What is read of the state, at the ledger's time (milliseconds since 1970). May throw Refused. */
export type Read<Answer> = (state: State, now: number) => Answer;

/** For how long a question is worth an answer. */
export interface Patience {
  /** On the clock of performance.now(). */
  readonly until: number;
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly until: number;
  readonly settle: () => void;
  readonly reject: (error: IpledgerError) => void;
}

export class Follower {
  readonly #replica: Replica;
  readonly #log: Logger;
  readonly #waiting = new Set<Waiting>();
  #wake: () => void = () => undefined;
  #rung: 'not' | 'asked' | 'bell' = 'not';
  #lookedAt = performance.now();
  #reason = 'etcd does not answer';
  #ended: IpledgerError | undefined;

  constructor(replica: Replica, log: Logger) {
    this.#replica = replica;
    this.#log = log;
  }

  /** The state holds everything that was in the ledger so long ago. */
  get behindMs(): number {
    return performance.now() - this.#lookedAt;
  }

  /** Answers from what is known here now. @throws IpledgerError what `read` refuses; NOT_WRITER when this is no standby any more. */
  tell<Answer>(read: Read<Answer>): Proven<Answer> {
    if (this.#ended) throw this.#ended;
    try {
      return { answer: read(this.#replica.state, this.#replica.clock.read().at), head: this.#replica.head };
    } catch (error) {
      throw error instanceof Refused ? new IpledgerError(error.refusal.code, error.refusal.message) : error;
    }
  }

  /**
   * Answers as of a moment after it was asked.
   * @throws IpledgerError what `read` refuses; UNAVAILABLE when patience ended first; OVERLOADED; NOT_WRITER as above.
   */
  ask<Answer>(read: Read<Answer>, { until, signal }: Patience): Promise<Proven<Answer>> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      if (signal.aborted) return reject(this.#late());
      if (this.#waiting.size >= mostWaiting)
        return reject(new IpledgerError('OVERLOADED', `${mostWaiting} requests are waiting already: try again later`));
      const end = (): void => {
        this.#waiting.delete(waiting);
        signal.removeEventListener('abort', giveUp);
      };
      const waiting: Waiting = {
        until,
        settle: () => {
          end();
          try {
            resolve(this.tell(read));
          } catch (error) {
            reject(IpledgerError.from(error));
          }
        },
        reject: (error) => {
          end();
          reject(error);
        },
      };
      const giveUp = (): void => waiting.reject(this.#late());
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(waiting);
      this.#ring('asked');
    });
  }

  /** Follows until the signal is aborted. @throws IpledgerError LEDGER_DAMAGED, or POSITION_GONE, when the log cannot be followed any more. */
  async run(signal: AbortSignal): Promise<void> {
    void this.#listen(signal);
    const sweeping = setInterval(() => this.#sweep(), sweepMs);
    try {
      while (!signal.aborted) {
        if (this.#rung === 'not') await this.#woken(signal);
        if (!signal.aborted) await this.#look(signal);
      }
    } finally {
      clearInterval(sweeping);
      this.#ended = new IpledgerError('NOT_WRITER', 'this allocator does not stand by any more: ask again');
      for (const { reject } of this.#waiting) reject(this.#ended);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const thorough = this.#rung === 'bell';
    this.#rung = 'not';
    const asked = [...this.#waiting];
    const beganAt = performance.now();
    try {
      await (thorough ? this.#replica.catchUp(signal) : this.#replica.refresh(signal));
      this.#lookedAt = beganAt;
      for (const waiting of asked) if (this.#waiting.has(waiting)) waiting.settle();
    } catch (error) {
      if (signal.aborted) return;
      const reason = IpledgerError.from(error);
      if (reason.kind === 'damaged' || reason.code === 'POSITION_GONE') throw reason;
      this.#reason = reason.message;
      this.#log.warn({ reason: reason.message }, 'the log cannot be read');
      await pause(lookAgainMs, signal);
      if (this.#waiting.size > 0) this.#ring('asked');
    }
  }

  /** Keeps the state warm while nobody asks. A ring has the log itself read, also where the head says that nothing is new. */
  async #listen(signal: AbortSignal): Promise<void> {
    const bell = this.#replica.ledger.bell(signal)[Symbol.asyncIterator]();
    while (!(await bell.next()).done) this.#ring('bell');
  }

  #ring(by: 'asked' | 'bell'): void {
    if (this.#rung !== 'bell') this.#rung = by;
    this.#wake();
  }

  #woken(signal: AbortSignal): Promise<void> {
    return untilCalled(signal, (wake) => {
      this.#wake = wake;
      return () => (this.#wake = () => undefined);
    });
  }

  /** One timer for all that wait: there may be thousands a second. */
  #sweep(): void {
    const now = performance.now();
    for (const { until, reject } of this.#waiting) if (until <= now) reject(this.#late());
  }

  #late(): IpledgerError {
    const { seq } = this.#replica.head;
    return new IpledgerError(
      'UNAVAILABLE',
      `this replica knows the ledger up to event ${seq} and could not make sure that this is all: ${this.#reason}; ask another`,
    );
  }
}
