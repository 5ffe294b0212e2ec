/**
 * A world in virtual time: machines with clocks of their own, the programs on them, and one queue
 * of what happens next. All follows from a seed. A step is one event of the queue with all promises
 * that it settles; a program can crash or pause between two steps, which is at each of its awaits
 * of a timer or a message.
 */
import type { SeededRandom } from '../../faults/seeded-random.ts';
import { EventQueue, type Planned } from './event-queue.ts';
import { calm, type Faults } from './faults.ts';
import { Machine } from './machine.ts';
import { hashText, mix, sourceFor } from './seeded-source.ts';
import type { Stepped, Timeline } from './timeline.ts';

/** Taken before the functions of Node are replaced. */
const realTurn = setImmediate;

interface Event extends Planned {
  readonly act: () => void;
  readonly program: Stepped | undefined;
  readonly what: string;
}

/** A violated invariant. */
export class Violation extends Error {
  readonly invariant: string;

  constructor(invariant: string, detail: string) {
    super(`${invariant}: ${detail}`);
    this.invariant = invariant;
  }
}

export class World implements Timeline {
  readonly seed: number;
  /** The time at its start, milliseconds since 1970. */
  readonly beganAt: number = Date.UTC(2026, 2, 1);
  /** How hostile network and timers are now. */
  faults: Faults = calm;
  /** Milliseconds since the start of the world. */
  now = 0;
  steps = 0;
  /** The first violation. */
  violation: Violation | undefined;
  /** Called when a program ends by an error of its own. */
  onFailure: (program: string, error: unknown) => void = () => undefined;
  /** Kept for a printed history only. */
  readonly history: string[] | undefined;
  #traceHash = 0x811c9dc5;
  #order = 0;
  readonly #queue = new EventQueue<Event>();
  /** What waits for the end of a pause, in its order. */
  readonly #deferred = new Map<Stepped, Event[]>();
  readonly #machines = new Map<string, Machine>();
  readonly #kinds = new Map<string, number>();

  constructor(seed: number, keepsHistory = false) {
    this.seed = seed;
    this.history = keepsHistory ? [] : undefined;
  }

  /** A source of random numbers for one purpose. */
  random(purpose: string): SeededRandom {
    return sourceFor(this.seed, purpose);
  }

  machine(name: string): Machine {
    const known = this.#machines.get(name);
    if (known) return known;
    const made = new Machine(this, name);
    this.#machines.set(name, made);
    return made;
  }

  /** A hash of all that happened, in its order. */
  get traceHash(): number {
    return this.#traceHash;
  }

  /**
   * Calls `act` after some virtual time, in the context of a program unless it has ended by then.
   * @param what names the kind of event in the hash of the trace
   */
  after(ms: number, act: () => void, program?: Stepped, what = 'after'): () => void {
    const event = { at: this.now + Math.max(0, ms), order: this.#order++, isCancelled: false, act, program, what };
    this.#queue.push(event);
    return () => void (event.isCancelled = true);
  }

  /** Records what happened, for the hash and the printed history. */
  trace(what: string): void {
    this.#traceHash = mix(this.#traceHash, hashText(what));
    this.history?.push(`${this.now.toFixed(1).padStart(10)} ms  ${what}`);
  }

  /** Records a violation. The run ends after this step. */
  fail(invariant: string, detail: string): void {
    if (this.violation) return;
    this.violation = new Violation(invariant, detail);
    this.trace(`VIOLATION ${invariant}: ${detail}`);
  }

  /**
   * Runs steps until something is done, or a violation is found.
   * @returns whether it is done; false also after `maxMs` of virtual time, and without further
   * events
   */
  async runUntil(isDone: () => boolean, maxMs: number): Promise<boolean> {
    const end = this.now + maxMs;
    const stop = this.after(maxMs, () => undefined, undefined, 'end');
    await settled();
    while (!this.violation && this.now < end && !isDone()) {
      if (!this.#step()) break;
      await settled();
    }
    stop();
    return !this.violation && isDone();
  }

  /** Returns false without further events. */
  #step(): boolean {
    const event = this.#queue.pop();
    if (!event) return false;
    const { program } = event;
    this.now = event.at;
    if (program && !program.isAlive) return true;
    if (program && program.pausedUntil > this.now) {
      this.#defer(program, event);
      return true;
    }
    this.steps++;
    this.#traceHash = mix(mix(this.#traceHash, Math.round(event.at * 1_000)), this.#kindOf(event));
    try {
      if (program) program.run(event.act);
      else event.act();
    } catch (error) {
      if (!program) throw error;
      program.fail(error);
    }
    return true;
  }

  /** Makes what waited for a program due, at the end of its pause. */
  resume(program: Stepped): void {
    if (program.pausedUntil > this.now) return this.#wake(program);
    const events = this.#deferred.get(program) ?? [];
    this.#deferred.delete(program);
    for (const event of events) {
      [event.at, event.order] = [this.now, this.#order++];
      this.#queue.push(event);
    }
  }

  #defer(program: Stepped, event: Event): void {
    const others = this.#deferred.get(program);
    if (others) return void others.push(event);
    this.#deferred.set(program, [event]);
    this.#wake(program);
  }

  #wake(program: Stepped): void {
    this.after(program.pausedUntil - this.now, () => this.resume(program), undefined, 'resume');
  }

  #kindOf({ program, what }: Event): number {
    const kind = program ? program.name + what : what;
    let number = this.#kinds.get(kind);
    if (number === undefined) this.#kinds.set(kind, (number = hashText(kind)));
    return number;
  }
}

/** Resolves when all promises and ticks of the present step are settled. */
const settled = (): Promise<void> => new Promise((resolve) => realTurn(resolve));
