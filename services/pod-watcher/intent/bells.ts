/**
 * Wakes the Pods that wait for a topic when something changes that may help them.
 *
 * A Subnet or network that is made or corrected may help all that wait for it. An address that becomes free helps one of
 * them, and where thousands wait, each release would make all of them ask: so that wakes few, and seldom. The others are
 * woken by the next one, or ask by themselves when their backoff is over.
 */
import type { Waiting } from './waiting.ts';

/** What arrives together (a Subnet and its Pods, many releases) is answered together. */
const gatherMs = 50;
const freedEveryMs = 1_000;
const mostWoken = 64;

export class Bells {
  readonly #waiting: Waiting;
  readonly #wake: (pod: string) => void;
  readonly #freedEveryMs: number;
  readonly #rung = new Set<string>();
  /** Those that wait for their answer, and when the others had their last. */
  readonly #freed = new Set<string>();
  readonly #answeredAt = new Map<string, number>();

  constructor(waiting: Waiting, wake: (pod: string) => void, everyMs = freedEveryMs) {
    this.#waiting = waiting;
    this.#wake = wake;
    this.#freedEveryMs = everyMs;
  }

  /** What the topic names has changed: wakes everybody who waits for it. */
  ring(topic: string): void {
    if (this.#rung.size === 0) setTimeout(() => this.#answer(), gatherMs).unref();
    this.#rung.add(topic);
  }

  /** An address of the topic may be free: wakes those who have not asked for longest, few of them and seldom. */
  freed(topic: string): void {
    if (this.#freed.has(topic)) return;
    this.#freed.add(topic);
    const dueAt = (this.#answeredAt.get(topic) ?? -Infinity) + this.#freedEveryMs;
    setTimeout(() => this.#answerFreed(topic), Math.max(gatherMs, dueAt - performance.now())).unref();
  }

  #answer(): void {
    const topics = [...this.#rung];
    this.#rung.clear();
    for (const topic of topics) for (const pod of this.#waiting.on(topic)) this.#wake(pod);
  }

  #answerFreed(topic: string): void {
    this.#freed.delete(topic);
    const waiting = this.#waiting.on(topic);
    if (waiting.length === 0) this.#answeredAt.delete(topic);
    else this.#answeredAt.set(topic, performance.now());
    for (const pod of waiting.slice(0, mostWoken)) this.#wake(pod);
  }
}
