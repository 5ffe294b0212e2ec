/**
 * Wakes the Pods that wait for a topic when a change may help them.
 *
 * A changed Subnet or network may help every Pod of its topic, so all are woken. A freed address
 * helps one Pod: it is offered to the oldest. A Pod that does not take it passes it on to the next
 * Pod of the queue, until a Pod takes it or the queue ends. Each offer looks up one position in a
 * sorted queue, so its cost does not grow with the number of waiting Pods.
 */
import type { QueuePosition, WaiterIndex } from './waiter-index.ts';

/** The time within which changes, such as many releases, are handled together. */
const defaultGatherMs = 50;
/** The number of Pods that a probe wakes: the first Pod may also wait for something else. */
const probedPods = 4;
/** The longest timer of Node.js. */
const maxTimerMs = 2 ** 31 - 1;

/** Addresses of one topic that are offered to a Pod. */
interface Offer {
  readonly position: QueuePosition;
  readonly count: number;
}

export class WaiterWakeup {
  readonly #index: WaiterIndex;
  readonly #wake: (pod: string) => void;
  readonly #gatherMs: number;
  readonly #changedTopics = new Set<string>();
  readonly #probedTopics = new Set<string>();
  /** The number of freed addresses that are not offered yet, by topic. */
  readonly #freed = new Map<string, number>();
  /** The number of offered addresses that no Pod has taken yet, by topic. */
  readonly #untaken = new Map<string, number>();
  /** The offers by Pod, then by topic. */
  readonly #offers = new Map<string, Map<string, Offer>>();

  constructor(index: WaiterIndex, wake: (pod: string) => void, gatherMs = defaultGatherMs) {
    this.#index = index;
    this.#wake = wake;
    this.#gatherMs = gatherMs;
  }

  /** Wakes all Pods of a topic. */
  wakeAll(topic: string): void {
    if (this.#changedTopics.size === 0) this.#afterGathering(() => this.#wakeChanged());
    this.#changedTopics.add(topic);
  }

  /** Offers a free address of the topic. */
  offerOne(topic: string): void {
    const freed = this.#freed.get(topic) ?? 0;
    if (freed === 0) this.#afterGathering(() => this.#offerFreed(topic));
    this.#freed.set(topic, freed + 1);
  }

  /** Offers an address of the topic that is free after `ms`. */
  offerAfter(topic: string, ms: number): void {
    if (ms <= 0) this.offerOne(topic);
    else setTimeout(() => this.offerOne(topic), Math.min(ms, maxTimerMs)).unref();
  }

  /** Wakes the oldest Pods of a topic; continues while Pods take addresses. */
  probe(topic: string): void {
    if (this.#probedTopics.has(topic)) return;
    this.#probedTopics.add(topic);
    this.#afterGathering(() => {
      this.#probedTopics.delete(topic);
      for (const { pod } of this.#index.waitersOf(topic, { max: probedPods })) this.#wake(pod);
    });
  }

  /** Records that a Pod took an address. Must be called before the Pod leaves the index. */
  onTaken(pod: string, topics: readonly string[]): void {
    const offers = this.#offers.get(pod);
    for (const topic of topics) {
      const offer = offers?.get(topic);
      if (offer) offers?.set(topic, { ...offer, count: offer.count - 1 });
      if (this.#untaken.has(topic)) this.#reduceUntaken(topic, 1);
      // Probes: the Pod's address was not on offer, so more addresses may be free.
      else if (this.#index.has(pod)) this.probe(topic);
    }
  }

  /** Passes offers that a Pod did not take on to the next Pods. */
  onAttemptEnded(pod: string): void {
    const offers = this.#offers.get(pod);
    if (!offers) return;
    this.#offers.delete(pod);
    // Waits until the next attempt of a Pod that was woken during this attempt is queued, before
    // those of younger Pods.
    setImmediate(() => {
      for (const [topic, { position, count }] of offers) this.#offer(topic, count, position);
    });
  }

  #afterGathering(act: () => void): void {
    setTimeout(act, this.#gatherMs).unref();
  }

  #wakeChanged(): void {
    const topics = [...this.#changedTopics];
    this.#changedTopics.clear();
    for (const topic of topics) for (const { pod } of this.#index.waitersOf(topic)) this.#wake(pod);
  }

  #offerFreed(topic: string): void {
    const freed = this.#freed.get(topic) ?? 0;
    this.#freed.delete(topic);
    this.#untaken.set(topic, (this.#untaken.get(topic) ?? 0) + freed);
    this.#offer(topic, freed);
  }

  /** Offers up to `count` untaken addresses to the Pods behind a position. */
  #offer(topic: string, count: number, behind?: QueuePosition): void {
    const max = Math.min(count, this.#untaken.get(topic) ?? 0);
    if (max === 0) return;
    const positions = this.#index.waitersOf(topic, { behind, max });
    // Drops addresses that no Pod is left to take: the queue has ended.
    this.#reduceUntaken(topic, max - positions.length);
    for (const position of positions) {
      const offers = this.#offers.get(position.pod) ?? new Map<string, Offer>();
      this.#offers.set(position.pod, offers.set(topic, { position, count: (offers.get(topic)?.count ?? 0) + 1 }));
      this.#wake(position.pod);
    }
  }

  #reduceUntaken(topic: string, count: number): void {
    const left = (this.#untaken.get(topic) ?? 0) - count;
    if (left > 0) this.#untaken.set(topic, left);
    else this.#untaken.delete(topic);
  }
}
