/**
 * A running program. Its clocks, timers and random numbers are those of its machine and of the
 * seed.
 */
import type { SeededRandom } from '../../faults/seeded-random.ts';
import { type ProgramClock, running } from './program-clock.ts';
import type { Stepped, Timeline } from './timeline.ts';

/** The range of a random number. */
const end = 2 ** 30;

/** More reads of the clock at one time are a loop that waits for nothing: the run would not end. */
const maxReadsAtOnce = 200_000;

/** The machine of a program. */
export interface Clocks {
  readonly name: string;
  readonly world: Timeline;
  wall(): number;
  monotonic(): number;
}

export class Program implements ProgramClock, Stepped {
  readonly name: string;
  readonly machine: Clocks;
  pausedUntil = 0;
  /** Why it ended by itself. */
  failure: unknown;
  readonly #ended = new AbortController();
  readonly #random: SeededRandom;
  #turnAt = 0;
  #readAt = 0;
  /** The reads of the clock at that time. */
  #reads = 0;

  constructor(machine: Clocks, name: string) {
    this.machine = machine;
    this.name = name;
    this.#random = machine.world.random(`program ${name}`);
  }

  get isAlive(): boolean {
    return !this.#ended.signal.aborted;
  }

  /** Aborted at its end. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Runs in its context. */
  run<T>(act: () => T): T {
    return running.run(this, act);
  }

  /** Ends it now: its timers and messages to it vanish. What it has sent is on the way. */
  crash(): void {
    if (!this.isAlive) return;
    this.machine.world.trace(`${this.name} ends`);
    running.exit(() => this.#ended.abort());
  }

  /** Ends it by an error of its own. */
  fail(error: unknown): void {
    if (!this.isAlive) return;
    this.failure = error;
    this.machine.world.trace(`${this.name} fails: ${error instanceof Error ? error.message : String(error)}`);
    this.machine.world.onFailure(this.name, error);
    this.crash();
  }

  /** Suspends it: all that is due waits. */
  pauseFor(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, this.machine.world.now + ms);
  }

  /** Ends its suspension now. */
  resume(): void {
    this.pausedUntil = this.machine.world.now;
    this.machine.world.resume(this);
  }

  wall(): number {
    return this.machine.wall();
  }

  /** @throws Error in a loop that waits for nothing, which has no other end */
  monotonic(): number {
    const { now } = this.machine.world;
    this.#reads = this.#readAt === now ? this.#reads + 1 : 0;
    this.#readAt = now;
    if (this.#reads > maxReadsAtOnce) {
      const error = new Error('it loops without a pause');
      this.fail(error);
      throw error;
    }
    return this.machine.monotonic();
  }

  random(): number {
    return this.#random.nextInt(end) / end;
  }

  after(ms: number, act: () => void): () => void {
    const { world } = this.machine;
    const { late, maxLateMs } = world.faults.timers;
    const lateMs = this.random() * (this.random() < late ? maxLateMs : 1);
    return world.after(ms + lateMs, act, this, 'timer');
  }

  soon(act: () => void): () => void {
    const { world } = this.machine;
    this.#turnAt = Math.max(this.#turnAt, world.now) + this.random() * 0.02;
    return world.after(this.#turnAt - world.now, act, this, 'turn');
  }
}
