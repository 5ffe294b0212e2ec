/** The waiting Pods by topic. The Pods of a topic are a queue in creation order. */
import { SortedList } from '../../../sorted-list.ts';
import { addTo, removeFrom } from '../../../../../lib/maps.ts';
import type { Pod } from '../../../kubernetes/objects/pod.ts';
import type { PodPlan } from '../planning/request-addresses.ts';

/** The position of a Pod in its queues. */
export interface QueuePosition {
  readonly pod: string;
  /** The sort key of the Pod: a smaller value comes first. */
  readonly creationOrder: string;
}

interface Waiter extends QueuePosition {
  queues: readonly Queue[];
  /** The performance.now() of the last request for its addresses. */
  requestedAt: number;
}

interface Queue {
  readonly topic: string;
  readonly waiters: SortedList<Waiter>;
}

export class WaiterIndex {
  readonly #queues = new Map<string, Queue>();
  readonly #waiters = new Map<string, Waiter>();
  readonly #compare: (one: QueuePosition, other: QueuePosition) => number;

  constructor(compare = byCreation) {
    this.#compare = compare;
  }

  /** The number of waiting Pods. */
  get size(): number {
    return this.#waiters.size;
  }

  /** Adds a Pod to the queues of these topics, and removes it from all others. */
  wait(pod: string, topics: ReadonlySet<string>, creationOrder: string): void {
    const present = this.#waiters.get(pod);
    if (present && present.creationOrder !== creationOrder) this.remove(pod);
    const requestedAt = present?.requestedAt ?? performance.now();
    const waiter = this.#waiters.get(pod) ?? { pod, creationOrder, requestedAt, queues: [] };
    this.#waiters.set(pod, waiter);
    const before = new Set(waiter.queues);
    waiter.queues = Array.from(topics, (topic) => this.#queueOf(topic));
    for (const queue of waiter.queues) if (!before.delete(queue)) queue.waiters.add(waiter);
    for (const queue of before) this.#leave(queue, waiter);
  }

  /** Moves a waiting Pod to another position in its queues. */
  move(pod: string, creationOrder: string): void {
    const waiter = this.#waiters.get(pod);
    if (!waiter || waiter.creationOrder === creationOrder) return;
    this.wait(pod, new Set(waiter.queues.map(({ topic }) => topic)), creationOrder);
  }

  /** Records that the addresses of `pod` are requested now. */
  markRequested(pod: string): void {
    const waiter = this.#waiters.get(pod);
    if (waiter) waiter.requestedAt = performance.now();
  }

  remove(pod: string): void {
    const waiter = this.#waiters.get(pod);
    if (!waiter) return;
    for (const queue of waiter.queues) this.#leave(queue, waiter);
    this.#waiters.delete(pod);
  }

  has(pod: string): boolean {
    return this.#waiters.has(pod);
  }

  /** Returns the first Pods of a topic behind a position; by default all Pods. */
  waitersOf(
    topic: string,
    { behind, max }: { readonly behind?: QueuePosition | undefined; readonly max?: number } = {},
  ): QueuePosition[] {
    return this.#queues.get(topic)?.waiters.after(behind as Waiter | undefined, max) ?? [];
  }

  /** Returns the first Pods of a topic that are older, and whose last request was before a time. */
  waitersAhead(
    topic: string,
    creationOrder: string,
    { max, requestedBefore }: { readonly max: number; readonly requestedBefore: number },
  ): string[] {
    const first = this.#queues.get(topic)?.waiters.after(undefined, max) ?? [];
    return first
      .filter((waiter) => waiter.creationOrder < creationOrder && waiter.requestedAt < requestedBefore)
      .map(({ pod }) => pod);
  }

  #queueOf(topic: string): Queue {
    const present = this.#queues.get(topic);
    if (present) return present;
    const queue = { topic, waiters: new SortedList<Waiter>(this.#compare) };
    this.#queues.set(topic, queue);
    return queue;
  }

  #leave(queue: Queue, waiter: Waiter): void {
    queue.waiters.remove(waiter);
    if (queue.waiters.size === 0) this.#queues.delete(queue.topic);
  }
}

/** Compares positions by creation, then by name. */
export function byCreation(one: QueuePosition, other: QueuePosition): number {
  return compareText(one.creationOrder, other.creationOrder) || compareText(one.pod, other.pod);
}

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

export class UnservedNetworks {
  readonly #podsByTopic = new Map<string, Set<string>>();
  readonly #topicsByPod = new Map<string, readonly string[]>();

  /** Replaces the stored list of the networks of a Pod that no Subnet serves. */
  put(key: string, { phase }: Pick<Pod, 'phase'>, { unserved, topics }: Pick<PodPlan, 'unserved' | 'topics'>): void {
    this.forget(key);
    if (phase !== 'Pending' || unserved.length === 0) return;
    const networks = [...topics].filter((topic) => topic.startsWith('network:'));
    this.#topicsByPod.set(key, networks);
    for (const topic of networks) addTo(this.#podsByTopic, topic, key);
  }

  forget(key: string): void {
    for (const topic of this.#topicsByPod.get(key) ?? []) removeFrom(this.#podsByTopic, topic, key);
    this.#topicsByPod.delete(key);
  }

  /** Returns the Pods "namespace/name" of a topic "network:<namespace>/<name>". */
  podsOf(topic: string): readonly string[] {
    return [...(this.#podsByTopic.get(topic) ?? [])];
  }
}
