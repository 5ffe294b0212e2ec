/** One line of the bench: what was measured, beside the least that anything could do with the same keys. */

/** As it stands in latest.json. */
export interface Figure {
  readonly name: string;
  readonly what: string;
  readonly ours: number;
  /** The same of a bare range read and parse of the same keys, in the same run. */
  readonly floor: number;
  /** How many times the floor's cost is ours. */
  readonly ratio: number;
  /** Of the rounds: what lies between the best and the worst, as a part of the median. */
  readonly spread: number;
  readonly goal: string;
  readonly met: boolean;
}

interface Measured {
  readonly name: string;
  readonly what: string;
  /** One value a round. */
  readonly ours: readonly number[];
  readonly floor: readonly number[];
  /** Whether much is good, as of events a second, or little, as of milliseconds. */
  readonly better: 'more' | 'less';
  /** The ratio that is hoped for. */
  readonly mostRatio: number;
}

export function figure({ name, what, ours, floor, better, mostRatio }: Measured): Figure {
  const [mine, least] = [median(ours), median(floor)];
  const ratio = better === 'more' ? least / mine : mine / least;
  const spread = (Math.max(...ours) - Math.min(...ours)) / mine;
  return {
    name,
    what,
    ours: rounded(mine),
    floor: rounded(least),
    ratio: rounded(ratio),
    spread: rounded(spread),
    goal: `at most ${mostRatio} times the floor`,
    met: ratio <= mostRatio,
  };
}

const rounded = (value: number): number => Number(value.toPrecision(4));

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The smallest value that so many of all do not exceed. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN;
}

export const eventsASecond = (events: number, ms: number): number => events / (ms / 1_000);

/** How long it takes, in milliseconds, and what it gives. */
export async function timed<Result>(work: () => Promise<Result>): Promise<{ ms: number; result: Result }> {
  const begun = performance.now();
  const result = await work();
  return { ms: performance.now() - begun, result };
}
