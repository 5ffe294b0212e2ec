/** What machines, programs and the network need of their world. */
import type { SeededRandom } from '../../faults/seeded-random.ts';
import type { Faults } from './faults.ts';

/** What runs in steps, until it ends. */
export interface Stepped {
  readonly name: string;
  readonly isAlive: boolean;
  /** Its steps wait until this time. */
  readonly pausedUntil: number;
  run<T>(act: () => T): T;
  /** Ends it by an error of its own. */
  fail(error: unknown): void;
}

export interface Timeline {
  /** Milliseconds since the start of the world. */
  readonly now: number;
  /** The time at its start, milliseconds since 1970. */
  readonly beganAt: number;
  /** How hostile network and timers are now. */
  readonly faults: Faults;
  /** A source of random numbers for one purpose. */
  random(purpose: string): SeededRandom;
  /**
   * Calls `act` after some virtual time, in the context of a program unless it has ended by then.
   * @param what names the kind of event in the hash of the trace
   * @returns a function that cancels it
   */
  after(ms: number, act: () => void, program?: Stepped, what?: string): () => void;
  /** Makes what waited for a program due, at the end of its pause. */
  resume(program: Stepped): void;
  /** A program ends by an error of its own. */
  onFailure(program: string, error: unknown): void;
  /** Records what happened, for the hash and the printed history. */
  trace(what: string): void;
}
