/**
 * A line of the bench: a figure beside its floor or its peer, which were measured alternately in
 * the same run.
 */

/** The bound of a figure. */
export type Goal = { readonly atMost: number } | { readonly atLeast: number };

/** An entry of latest.json. */
export interface Measurement {
  /** The name of the row, with a part behind a space: "who-had p99". */
  readonly name: string;
  /** The quantity that `ours` and `floor` count, with the unit. */
  readonly what: string;
  /** The median of the rounds. */
  readonly ours: number;
  /** The median of the floor. Absent in a row without a floor. */
  readonly floor?: number;
  /** `ours` divided by `floor`, or `ours` itself. The goal bounds it. */
  readonly figure: number;
  /** Difference between the best and the worst round, divided by the median. */
  readonly spread: number;
  readonly goal: Goal;
  readonly met: boolean;
}

export interface Rounds {
  readonly name: string;
  readonly what: string;
  /** A value for each round. */
  readonly ours: readonly number[];
  /** A value for each round, measured alternately with `ours`. */
  readonly floor?: readonly number[];
  readonly goal: Goal;
}

/**
 * Computes figure and spread, and whether the goal is met. The figure is the median of the rounds'
 * quotients.
 */
export function createMeasurement({ name, what, ours, floor, goal }: Rounds): Measurement {
  const figures = floor ? ours.map((value, round) => value / (floor[round] ?? Number.NaN)) : ours;
  const figure = median(figures);
  const spread = (Math.max(...figures) - Math.min(...figures)) / figure;
  return {
    name,
    what,
    ours: round(median(ours)),
    ...(floor && { floor: round(median(floor)) }),
    figure: round(figure),
    spread: round(spread),
    goal,
    met: isWithin(figure, goal),
  };
}

const isWithin = (figure: number, goal: Goal): boolean =>
  'atMost' in goal ? figure <= goal.atMost : figure >= goal.atLeast;

/** The part of its goal below which `CHECK=1` fails a row. */
export const checkedPart = 0.7;

/** Whether the figure is worse than the checked part of the goal. */
export function isFarFromGoal({ figure, goal }: Pick<Measurement, 'figure' | 'goal'>): boolean {
  if (Number.isNaN(figure)) return true;
  return !isWithin(
    figure,
    'atMost' in goal ? { atMost: goal.atMost / checkedPart } : { atLeast: goal.atLeast * checkedPart },
  );
}

export const formatGoal = (goal: Goal): string => ('atMost' in goal ? `≤ ${goal.atMost}` : `≥ ${goal.atLeast}`);

const round = (value: number): number => Number(value.toPrecision(4));

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The smallest value that is not exceeded by the given part (0 to 1) of all values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

export const perSecond = (count: number, ms: number): number => count / (ms / 1_000);

/** Runs `work`. Returns its duration in milliseconds and its result. */
export async function measureTime<Result>(work: () => Promise<Result>): Promise<{ ms: number; result: Result }> {
  const startedAt = performance.now();
  const result = await work();
  return { ms: performance.now() - startedAt, result };
}

/** Values of the rounds of one measurement and its floor. */
export interface Alternated {
  readonly ours: readonly number[];
  readonly floor: readonly number[];
}

/** Measures both sides in each round, in turns, after one round that only warms up. */
export async function alternate(
  rounds: number,
  ours: (round: number) => Promise<number>,
  floor: (round: number) => Promise<number>,
): Promise<Alternated> {
  const result = { ours: [] as number[], floor: [] as number[] };
  for (let round = 0; round <= rounds; round++) {
    const floorFirst = round % 2 === 0;
    const early = await (floorFirst ? floor(round) : ours(round));
    const late = await (floorFirst ? ours(round) : floor(round));
    if (round === 0) continue;
    result.floor.push(floorFirst ? early : late);
    result.ours.push(floorFirst ? late : early);
  }
  return result;
}
