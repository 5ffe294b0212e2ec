/** The clock of the program that runs now. */
import { AsyncLocalStorage } from 'node:async_hooks';

/** What the kernel gives a program in place of Node's. */
export interface ProgramClock {
  /** Milliseconds since 1970. */
  wall(): number;
  /** Milliseconds from any origin. */
  monotonic(): number;
  /** Calls `act` after `ms`. Returns a function that cancels it. */
  after(ms: number, act: () => void): () => void;
  /** Calls `act` in a later turn, in the order of these calls. */
  soon(act: () => void): () => void;
  /** A number from 0 to below 1. */
  random(): number;
}

/** The program that runs now. */
export const running = new AsyncLocalStorage<ProgramClock>();
