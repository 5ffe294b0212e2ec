/** A machine: its clocks, and the programs on it. */
import { Program } from './program.ts';
import type { Timeline } from './timeline.ts';

/** The clocks of machines differ a little, as with a time server. */
const maxOffsetMs = 200;

export class Machine {
  readonly name: string;
  readonly world: Timeline;
  /** How far its wall clock is ahead. */
  #aheadMs: number;
  readonly #bootedMs: number;

  constructor(world: Timeline, name: string) {
    this.world = world;
    this.name = name;
    const random = world.random(`clocks of ${name}`);
    this.#aheadMs = random.nextInt(2 * maxOffsetMs) - maxOffsetMs;
    this.#bootedMs = random.nextInt(1_000_000_000);
  }

  /** Moves the wall clock. The monotonic clock goes on. */
  stepClock(ms: number): void {
    this.#aheadMs += ms;
  }

  /** Sets the wall clock right. */
  setClock(): void {
    this.#aheadMs = 0;
  }

  wall(): number {
    return Math.floor(this.world.beganAt + this.world.now + this.#aheadMs);
  }

  monotonic(): number {
    return this.#bootedMs + this.world.now;
  }

  /** Starts a program. It ends when `main` rejects, but not when it resolves. */
  start(name: string, main: () => Promise<void> | void): Program {
    const program = new Program(this, name);
    this.world.after(
      0,
      () => {
        const run = async (): Promise<void> => main();
        void run().catch((error: unknown) => program.fail(error));
      },
      program,
      'start',
    );
    return program;
  }
}
