/**
 * The plan of a run: what clients request and which faults occur, each at its time. It follows from
 * the seed. A run of the same seed with fewer items is how a failing run is shortened.
 */
export interface PlanItem<Run> {
  /** "c12" or "f3". */
  readonly id: string;
  /** Virtual time since the start of the plan. */
  readonly atMs: number;
  readonly what: string;
  act(run: Run): void;
}

/** The result of one run. */
export interface Outcome {
  /** What was violated, as "invariant: detail"; undefined if all held. */
  readonly violation: string | undefined;
  readonly invariant: string | undefined;
  readonly traceHash: number;
  readonly steps: number;
  readonly virtualMs: number;
  /** The events in the log at the end. */
  readonly events: number;
  readonly history: readonly string[];
}

export interface RunOptions {
  /** The items that act; absent: all. */
  readonly only?: ReadonlySet<string>;
  readonly keepsHistory?: boolean;
}

/** A simulation of one half of the system. */
export interface Simulation {
  readonly name: string;
  /** How many of its seeds are part of `make test`. */
  readonly testedSeeds: number;
  /** The items of a seed, for a printed history. */
  plan(seed: number): readonly { readonly id: string; readonly atMs: number; readonly what: string }[];
  run(seed: number, options?: RunOptions): Promise<Outcome>;
}
