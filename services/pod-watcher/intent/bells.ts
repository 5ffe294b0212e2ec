/**
 * Wakes the Pods that wait for a topic when something changes that may help them.
 *
 * A Subnet or network that is made or corrected may help all that wait for it. An address that becomes free helps one of
 * them: it is offered along the line, the oldest first, until as many were served as addresses became free. Where most of a
 * line cannot use it, more are asked at a time, so that it reaches the end of any line soon.
 */
import type { Place, Waiting } from './waiting.ts';

/** What arrives together (a Subnet and its Pods, many releases) is answered together. */
const gatherMs = 50;
/** How long those who are asked have to take an address before the next in the line are. */
const usualWaveMs = 200;
const firstWave = 4;
const mostAtOnce = 512;
/** Node's timers end at 2^31 ms. */
const longestTimerMs = 2 ** 31 - 1;

/** Addresses on offer to the line of a topic. */
interface Offer {
  free: number;
  wave: number;
  /** Who was asked in the last wave. */
  asked: readonly Place[];
  /** Nobody knows whether there is any: the offer ends with the first who gets none. */
  guessed: boolean;
}

export class Bells {
  readonly #waiting: Waiting;
  readonly #wake: (pod: string) => void;
  readonly #waveMs: number;
  readonly #rung = new Set<string>();
  readonly #offers = new Map<string, Offer>();

  constructor(waiting: Waiting, wake: (pod: string) => void, waveMs = usualWaveMs) {
    this.#waiting = waiting;
    this.#wake = wake;
    this.#waveMs = waveMs;
  }

  /** What the topic names has changed: wakes everybody who waits for it. */
  ring(topic: string): void {
    if (this.#rung.size === 0) setTimeout(() => this.#answer(), gatherMs).unref();
    this.#rung.add(topic);
  }

  /** An address of the topic is free: offers it along the line. */
  freed(topic: string): void {
    const offer = this.#offers.get(topic);
    if (!offer) return this.#begin(topic, { free: 1, guessed: false });
    offer.free = offer.guessed ? 1 : offer.free + 1;
    offer.guessed = false;
    offer.wave = firstWave;
    offer.asked = [];
  }

  /** Perhaps there are free addresses of the topic: asks the oldest, and others as long as these are served. */
  mayBeFree(topic: string): void {
    if (!this.#offers.has(topic)) this.#begin(topic, { free: Infinity, guessed: true });
  }

  /** An address of the topic will be free in so long. */
  freedIn(topic: string, ms: number): void {
    if (ms <= 0) this.freed(topic);
    else setTimeout(() => this.freed(topic), Math.min(ms, longestTimerMs)).unref();
  }

  #begin(topic: string, offer: Pick<Offer, 'free' | 'guessed'>): void {
    this.#offers.set(topic, { ...offer, wave: firstWave, asked: [] });
    setTimeout(() => this.#offer(topic), gatherMs).unref();
  }

  #answer(): void {
    const topics = [...this.#rung];
    this.#rung.clear();
    for (const topic of topics) for (const { pod } of this.#waiting.on(topic)) this.#wake(pod);
  }

  /** One wave: it looks at those of the wave before and at the next ones only, however long the line is. */
  #offer(topic: string): void {
    const offer = this.#offers.get(topic);
    if (!offer) return;
    const unserved = offer.asked.filter(({ pod }) => this.#waiting.has(pod));
    offer.free -= offer.asked.length - unserved.length;
    const most = offer.guessed ? offer.wave : Math.min(Math.max(offer.free, offer.wave), mostAtOnce);
    const next = this.#waiting.on(topic, { behind: offer.asked.at(-1), most });
    if (offer.free <= 0 || next.length === 0 || (offer.guessed && unserved.length > 0)) {
      this.#offers.delete(topic);
      return;
    }
    offer.wave = Math.min(offer.wave * 2, mostAtOnce);
    offer.asked = next;
    for (const { pod } of next) this.#wake(pod);
    setTimeout(() => this.#offer(topic), this.#waveMs).unref();
  }
}
