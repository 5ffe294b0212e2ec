/**
 * Limits what viewers, operators and Kubernetes users read. Any number of clients may share such an
 * identity. A list takes a token for each claim that it reads, and waits until the tokens of
 * earlier lists have returned. So a client that reads as fast as it can leaves most of the event
 * loop to the binds of agents.
 */
import { pause } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { storeNewest } from '../../../lib/maps.ts';
import { createSemaphore, type Semaphore } from '../../../lib/process/semaphore.ts';
import { TokenBucket } from '../../../lib/process/token-bucket.ts';

/** Scripts and pages of people send a few calls per second. A call with an error costs as much. */
const callLimits = { perSecond: 100, burst: 1_000 };
/** All allocations of 5,000 nodes with 20 Pods are read in 5 s, and a million in 95 s. */
const claimLimits = { perSecond: 10_000, burst: 50_000 };
/** The identity that is idle longest is removed first. */
const maxIdentities = 10_000;

interface Reader {
  readonly calls: TokenBucket;
  readonly claims: TokenBucket;
  /** Runs one list at a time. A list is read page by page, so one client needs only one. */
  readonly inTurn: Semaphore;
}

/** The time that the limits measure, in milliseconds from any origin. */
export interface ReaderClock {
  readonly now: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

export class ReaderLimits {
  readonly #clock: ReaderClock;
  readonly #readers = new Map<string, Reader>();

  constructor(clock: ReaderClock = { now: () => performance.now(), pause }) {
    this.#clock = clock;
  }

  /** Counts a call. @throws IpledgerError RATE_LIMITED beyond the rate */
  takeCall(actor: string): void {
    if (this.#readerOf(actor).calls.take(this.#clock.now())) return;
    const { perSecond, burst } = callLimits;
    throw new IpledgerError(
      'RATE_LIMITED',
      `${actor} sent more than ${perSecond} reads per second, after a burst of ${burst}: try again in a second, or use a certificate or user of your own`,
    );
  }

  /**
   * Runs a list after the earlier lists of its caller. Any number may wait, because the server
   * limits the bytes of a client's waiting calls.
   * @param claimsOf returns the claims that the list has read
   * @throws what `run` throws; CANCELLED or DEADLINE_PASSED if the signal is aborted first
   */
  list<Answer>(
    { actor, signal }: { readonly actor: string; readonly signal: AbortSignal },
    run: () => Promise<Answer>,
    claimsOf: (answer: Answer) => number,
  ): Promise<Answer> {
    const { claims, inTurn } = this.#readerOf(actor);
    const { now, pause: wait } = this.#clock;
    return inTurn(signal, async () => {
      const seconds = claims.secondsUntil(1, now());
      if (seconds > 0) await wait(1_000 * seconds, signal);
      if (signal.aborted) throw IpledgerError.from(signal.reason);
      const answer = await run();
      claims.spend(claimsOf(answer));
      return answer;
    });
  }

  #readerOf(actor: string): Reader {
    const now = this.#clock.now();
    const reader = this.#readers.get(actor) ?? {
      calls: new TokenBucket(callLimits, now),
      claims: new TokenBucket(claimLimits, now),
      inTurn: createSemaphore(1, Infinity),
    };
    storeNewest(this.#readers, actor, reader, maxIdentities);
    return reader;
  }
}

/** Whether an actor of a call is a viewer, an operator or a Kubernetes user. */
export const isReader = (actor: string): boolean =>
  actor === 'ipledger://viewer' || actor.startsWith('ipledger://operator/') || actor.startsWith('kubernetes:');
