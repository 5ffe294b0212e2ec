/**
 * Judges the samples of a soak: does anything grow with the life of the cluster?
 *
 * A series is one quantity of one process in one role, or of a store. Only its own hours count:
 * those in which the process has the role. Its first quarter is the warm-up. The rest is divided
 * into windows. The minimum of each window leaves out what is in use for a moment, and the median
 * slope through the minima (Theil-Sen) leaves out a few windows that differ. The growth is this
 * slope over half of the series: from the middle of the second quarter to the middle of the last
 * one.
 */

export interface Sample {
  /** Simulated hours since the start. */
  readonly hour: number;
  /** Pods that were created until then. */
  readonly pods: number;
  /** A program by its name and its role, or a store. */
  readonly subject: string;
  /** Distinguishes the processes of a program: each start begins a new series. */
  readonly life: number;
  readonly quantity: string;
  readonly value: number;
}

export interface Verdict {
  readonly subject: string;
  readonly life: number;
  readonly quantity: string;
  /**
   * Own hours, and the Pods of these, from the middle of the second quarter to the middle of the
   * last.
   */
  readonly hours: number;
  readonly pods: number;
  /** The minima of the second and of the last quarter. */
  readonly early: number;
  readonly late: number;
  readonly growth: number;
  /** The growth that is accepted. */
  readonly limit: number;
  readonly isLeak: boolean;
}

export interface Judgement {
  readonly verdicts: readonly Verdict[];
  /** "program quantity" if each series of the program is too short. */
  readonly unjudged: readonly string[];
}

/** Accepted growth beside that of chance: a fixed part, and a part for each Pod. */
interface Limit {
  readonly noise: number;
  readonly perPod: number;
}

const [kib, mib] = [2 ** 10, 2 ** 20];

/** Limits by the beginning of the quantity. */
const limits: readonly (readonly [beginning: string, limit: Limit])[] = [
  // Code that is used for the first time is compiled, and stays
  ['heap', { noise: 640 * kib, perPod: 256 }],
  // V8 returns memory late, and the allocator of the C library in parts
  ['resident', { noise: 24 * mib, perPod: 2 * kib }],
  ['descriptors', { noise: 3, perPod: 0 }],
  ['threads', { noise: 2, perPod: 0 }],
  ['timers', { noise: 4, perPod: 0 }],
  ['files', { noise: 4, perPod: 0 }],
  ['bytes', { noise: 0.5 * mib, perPod: 128 }],
  // A segment is sealed when it is full, so the number of events in etcd rises and falls
  ['keys log', { noise: 600, perPod: 0 }],
  // A key has 64 Pods that have ended; there are at most 4,096 keys
  ['keys ended', { noise: 4, perPod: 1 / 60 }],
  ['keys', { noise: 16, perPod: 0.02 }],
];

/** A series of fewer hours is not judged. */
export const minHours = 6;
const maxWindows = 12;
/** A growth of less than so many times the scatter of the minima may be chance. */
const maxScatters = 3;
const minStepRatio = 5;

/** @throws Error for a quantity without a limit */
export function judgeSamples(samples: readonly Sample[]): Judgement {
  const series = Map.groupBy(samples, ({ subject, life, quantity }) => `${subject}\0${life}\0${quantity}`);
  const verdicts: Verdict[] = [];
  const unjudged = new Set<string>();
  for (const each of series.values()) {
    const verdict = judgeSeries(each.toSorted((one, other) => one.hour - other.hour));
    if (verdict) verdicts.push(verdict);
    else if (each[0]) unjudged.add(programAndQuantity(each[0]));
  }
  for (const verdict of verdicts) unjudged.delete(programAndQuantity(verdict));
  return { verdicts, unjudged: [...unjudged] };
}

/** The program of a process, such as "allocator writer" of "allocator-1 writer". */
export const programOf = ({ subject }: Pick<Sample, 'subject'>): string => subject.replace(/(-node)?-\d+\b/, '');

const programAndQuantity = (series: Pick<Sample, 'subject' | 'quantity'>): string =>
  `${programOf(series)} ${series.quantity}`;

function judgeSeries(samples: readonly Sample[]): Verdict | undefined {
  const [first] = samples;
  const series = toOwnHours(samples);
  const span = (series.at(-1)?.hour ?? -1) + 1;
  if (!first || span < minHours) return undefined;
  const quarter = (index: number): readonly Point[] =>
    series.filter(({ hour }) => Math.floor((4 * hour) / span) === index);
  const [second, fourth] = [quarter(1), quarter(3)];
  const hours = span / 2;
  const pods = middlePods(fourth) - middlePods(second);
  const minima = withoutLargeStep(minimaOf(series, span / 4, span));
  const slope = medianSlope(minima);
  const growth = slope * hours;
  const { subject, life, quantity } = first;
  const { noise, perPod } = limitOf(quantity);
  const limit = noise + perPod * pods + maxScatters * scatterOf(minima, slope);
  const [early, late] = [lowest(second), lowest(fourth)];
  return { subject, life, quantity, hours, pods, early, late, growth, limit, isLeak: growth > limit };
}

/** A sample with the hours and the Pods of its own series. */
type Point = Pick<Sample, 'hour' | 'pods' | 'value'>;

/** Numbers the hours of a series from 0, and counts the Pods of these hours only. */
function toOwnHours(series: readonly Sample[]): Point[] {
  let [own, pods] = [0, 0];
  let last = series[0];
  return series.map((sample) => {
    const gap = sample.hour - (last?.hour ?? 0);
    if (gap > 0) own++;
    if (gap < 2) pods += sample.pods - (last?.pods ?? 0);
    last = sample;
    return { hour: own, pods, value: sample.value };
  });
}

function limitOf(quantity: string): Limit {
  const found = limits.find(([beginning]) => quantity.startsWith(beginning));
  if (!found) throw new Error(`no limit for the quantity "${quantity}"`);
  return found[1];
}

const lowest = (samples: readonly Point[]): number => Math.min(...samples.map(({ value }) => value));
const middlePods = (samples: readonly Point[]): number => samples[Math.floor(samples.length / 2)]?.pods ?? 0;

/** The lowest sample of each window between two hours. A window has at least one hour. */
function minimaOf(series: readonly Point[], from: number, to: number): Point[] {
  const count = Math.min(maxWindows, Math.floor(to - from));
  const windows = Map.groupBy(
    series.filter(({ hour }) => hour >= from),
    ({ hour }) => Math.min(count - 1, Math.floor(((hour - from) / (to - from)) * count)),
  );
  return [...windows.values()].map((samples) =>
    samples.reduce((least, sample) => (sample.value < least.value ? sample : least)),
  );
}

/**
 * Leaves out the largest step up, if it is far larger than the others. Code that is used for the
 * first time takes memory once: a failover adds a megabyte to the heap of an agent.
 */
function withoutLargeStep(points: readonly Point[]): readonly Point[] {
  const steps = points.slice(1).map(({ value }, index) => value - (points[index]?.value ?? value));
  const usual = medianOf(steps);
  const largest = Math.max(...steps);
  if (largest - usual <= minStepRatio * medianOf(steps.map((step) => Math.abs(step - usual)))) return points;
  const at = steps.indexOf(largest) + 1;
  return points.map((point, index) => (index < at ? point : { ...point, value: point.value - (largest - usual) }));
}

/** The median of the slopes between all pairs, per hour. */
const medianSlope = (points: readonly Point[]): number =>
  medianOf(
    points.flatMap((one, index) =>
      points
        .slice(index + 1)
        .flatMap((other) => (other.hour === one.hour ? [] : (other.value - one.value) / (other.hour - one.hour))),
    ),
  );

/** The median distance of the points from their line. */
function scatterOf(points: readonly Point[], slope: number): number {
  const offsets = points.map(({ hour, value }) => value - slope * hour);
  const middle = medianOf(offsets);
  return medianOf(offsets.map((offset) => Math.abs(offset - middle)));
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle) - 1] ?? 0)) / 2;
}
