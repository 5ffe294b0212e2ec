/** Who waits for what: Pods that could not be served, by the topics whose change may help them, each topic a line by age. */
import { SortedList } from '../sorted-list.ts';

/** Where a Pod stands in its lines. */
export interface Place {
  readonly pod: string;
  /** What is smaller goes first. */
  readonly age: string;
}

interface Waiter extends Place {
  lines: readonly Line[];
  /** When it asked last, of performance.now(). */
  askedAt: number;
}

interface Line {
  readonly topic: string;
  readonly waiters: SortedList<Waiter>;
}

export class Waiting {
  readonly #lines = new Map<string, Line>();
  readonly #pods = new Map<string, Waiter>();
  readonly #compare: (one: Place, other: Place) => number;

  /** @param compare which of two goes first. */
  constructor(compare = byAge) {
    this.#compare = compare;
  }

  /** How many wait. */
  get size(): number {
    return this.#pods.size;
  }

  /**
   * From now on `pod` waits for these topics, and no others.
   * @param age what is smaller goes first.
   */
  wait(pod: string, topics: ReadonlySet<string>, age: string): void {
    const known = this.#pods.get(pod);
    if (known && known.age !== age) this.end(pod);
    const askedAt = known?.askedAt ?? performance.now();
    const waiter = this.#pods.get(pod) ?? { pod, age, askedAt, lines: [] };
    this.#pods.set(pod, waiter);
    const before = new Set(waiter.lines);
    waiter.lines = Array.from(topics, (topic) => this.#line(topic));
    for (const line of waiter.lines) if (!before.delete(line)) line.waiters.add(waiter);
    for (const line of before) this.#leave(line, waiter);
  }

  /** `pod` is about to ask. */
  asks(pod: string): void {
    const waiter = this.#pods.get(pod);
    if (waiter) waiter.askedAt = performance.now();
  }

  /** `pod` waits no more. Whether it did. */
  end(pod: string): boolean {
    const waiter = this.#pods.get(pod);
    for (const line of waiter?.lines ?? []) this.#leave(line, waiter as Waiter);
    return this.#pods.delete(pod);
  }

  /** Whether `pod` waits. */
  has(pod: string): boolean {
    return this.#pods.has(pod);
  }

  /** Who waits for a topic, in the order of their age: the first few behind a place. */
  on(topic: string, { behind, most }: { readonly behind?: Place | undefined; readonly most?: number } = {}): Place[] {
    return this.#lines.get(topic)?.waiters.after(behind as Waiter | undefined, most) ?? [];
  }

  /** Of those on a topic who go before somebody of this age, the first few; who asked `since` then is passed over. */
  ahead(topic: string, age: string, { most, since }: { readonly most: number; readonly since: number }): string[] {
    const first = this.#lines.get(topic)?.waiters.after(undefined, most) ?? [];
    return first.filter((waiter) => waiter.age < age && waiter.askedAt < since).map(({ pod }) => pod);
  }

  #line(topic: string): Line {
    const known = this.#lines.get(topic);
    if (known) return known;
    const line = { topic, waiters: new SortedList<Waiter>(this.#compare) };
    this.#lines.set(topic, line);
    return line;
  }

  #leave(line: Line, waiter: Waiter): void {
    line.waiters.remove(waiter);
    if (line.waiters.size === 0) this.#lines.delete(line.topic);
  }
}

/** Who is older goes first; of the same age, by name. */
export function byAge(one: Place, other: Place): number {
  return compare(one.age, other.age) || compare(one.pod, other.pod);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
