/**
 * The Pods that could not be served, and the events after which they are retried: each ledger event
 * that may help them, and the end of an address's cooldown, which has no event. Pods that wait for
 * any address get it in creation order.
 */
import { storeNewest } from '../../../../../lib/maps.ts';
import type { Allocation } from '../../../../../proto/generated/ipledger.ts';
import type { Pod } from '../../../kubernetes/objects/pod.ts';
import type { LedgerEvent, ReservedAddress } from '../../../ledger/ledger-events.ts';
import type { SubnetCache } from '../../subnets/subnet-cache.ts';
import type { PodPlan } from '../planning/request-addresses.ts';
import { defaultCooldownTimes } from '../../../../../ledger/domain/commands/command.ts';
import {
  anyAddressQueue,
  anyAddressQueuesOf,
  creationOrderOf,
  macQueue,
  namedAddressQueue,
  queuesTakenFrom,
  quotaQueue,
} from './wait-queues.ts';
import { WaiterIndex } from './waiter-index.ts';
import { WaiterWakeup } from './waiter-wakeup.ts';

export interface WaitersOptions {
  readonly subnets: Pick<SubnetCache, 'get' | 'names'>;
  /** Retries a Pod "namespace/name". */
  readonly wake: (pod: string) => void;
  readonly signal: AbortSignal;
}

/** The number of older Pods of a queue that are tried before a younger Pod. */
const maxAhead = 4;
/** The time within which an older Pod that was tried is not tried again before a younger Pod. */
const recentMs = 100;
/** The lag of the ledger's clock behind the local clock: the delay of an event. */
const clockLagMs = 20;
/** The interval of tries by the oldest Pods while cooldowns of earlier releases may end. */
const probeIntervalMs = 500;
/** The number of tracked MACs. Pods that wait for others retry with a backoff. */
const maxReleasedMacs = 10_000;

export class Waiters {
  readonly #options: WaitersOptions;
  readonly #index = new WaiterIndex();
  readonly #wakeup: WaiterWakeup;
  /** The performance.now() at which a Pod let older Pods go first; removed at its own request. */
  readonly #yieldedAt = new Map<string, number>();
  /** The MACs of released addresses by "subnet/address", oldest first. */
  readonly #releasedMacs = new Map<string, string>();
  #started = false;

  constructor(options: WaitersOptions) {
    this.#options = options;
    this.#wakeup = new WaiterWakeup(this.#index, options.wake);
  }

  /** The number of waiting Pods. */
  get size(): number {
    return this.#index.size;
  }

  start(): void {
    const { signal } = this.#options;
    this.#started = true;
    if (signal.aborted) return;
    const startedAt = performance.now();
    const timer = setInterval(() => this.#probeCooldowns(performance.now() - startedAt), probeIntervalMs).unref();
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  /** Retries all Pods of a topic. */
  wake(topic: string): void {
    if (this.#started) this.#wakeup.wakeAll(topic);
  }

  onEvent(event: LedgerEvent): void {
    if (event.kind === 'released') this.#wakeup.offerOne(quotaQueue(event.subnet, event.namespace));
    if (event.kind === 'unbound') this.#offerReleasedMacs(event.subnet, event.addresses);
    if (event.kind === 'released' || event.kind === 'unbound') this.#offerFreed(event.subnet, event.addresses);
    else if (event.kind === 'unreserved' || event.kind === 'unquarantined')
      this.#offerFreed(event.subnet, [event.address], 0);
    else if (event.kind === 'subnet-configured') {
      this.wake(`subnet:${event.subnet.name}`);
      this.wake(`provider:${event.subnet.spec.provider}`);
    } else if (event.kind === 'reserved') this.wake(vipTopic(event.reserved));
    else if (event.kind === 'pool-configured') {
      this.wake(`pool:${event.pool.name}`);
      this.wake(`subnet:${event.pool.spec.subnet}`);
    } else if (event.kind === 'pool-retired') this.wake(`subnet:${event.subnet}`);
  }

  /** Records a released MAC, which is free when no container uses its addresses. */
  onMacReleased(subnet: string, mac: string, addresses: readonly string[]): void {
    if (mac === '') return;
    this.#wakeup.offerOne(macQueue(subnet, mac));
    for (const address of addresses) storeNewest(this.#releasedMacs, `${subnet}/${address}`, mac, maxReleasedMacs);
  }

  #offerReleasedMacs(subnet: string, addresses: readonly string[]): void {
    const macs = new Set(addresses.flatMap((address) => this.#releasedMacs.get(`${subnet}/${address}`) ?? []));
    for (const mac of macs) this.#wakeup.offerOne(macQueue(subnet, mac));
  }

  /** Adds a Pod to the queues of these topics, and removes it from all others. */
  wait(key: string, pod: Pod, topics: ReadonlySet<string>): void {
    this.#index.wait(key, topics, creationOrderOf(pod));
  }

  /** Records that the addresses of a Pod are requested now. */
  markRequested(key: string): void {
    this.#yieldedAt.delete(key);
    this.#index.markRequested(key);
  }

  /** Removes a Pod that has got its addresses and no longer waits. */
  onAllocated(key: string, plan: PodPlan, allocations: readonly Allocation[]): void {
    this.#wakeup.onTaken(key, queuesTakenFrom(allocations, plan));
    this.remove(key);
  }

  /** Passes on a Pod's offers after an attempt, whether or not it requested addresses. */
  onAttemptEnded(key: string): void {
    this.#wakeup.onAttemptEnded(key);
  }

  remove(key: string): void {
    this.#yieldedAt.delete(key);
    this.#index.remove(key);
  }

  /**
   * Returns the older Pods of this Pod's queues that must be tried first: an address may have
   * become free since they were refused. Excludes Pods that were tried recently. A Pod yields to
   * each of them once, however long they take until their attempt. It takes its own position in its
   * queues first: with that of an earlier Pod of the name, two Pods would yield to each other.
   */
  waitersAhead(key: string, pod: Pod, plan: PodPlan): string[] {
    this.#index.move(key, creationOrderOf(pod));
    const now = performance.now();
    const limits = { max: maxAhead, requestedBefore: this.#yieldedAt.get(key) ?? now - recentMs };
    const ahead = anyAddressQueuesOf(plan).flatMap((queue) =>
      this.#index.waitersAhead(queue, creationOrderOf(pod), limits),
    );
    if (ahead.length > 0 && !this.#yieldedAt.has(key)) this.#yieldedAt.set(key, now);
    return ahead;
  }

  /** Offers freed addresses by name at once, and to other Pods after the cooldown. */
  #offerFreed(subnet: string, addresses: readonly string[], cooldownMs = this.#cooldownMs(subnet)): void {
    if (addresses.length === 0) return;
    for (const address of addresses) this.#wakeup.offerOne(namedAddressQueue(address));
    this.#wakeup.offerAfter(anyAddressQueue(subnet), cooldownMs === 0 ? 0 : cooldownMs + clockLagMs);
  }

  /** Probes while addresses that were released before the start may cool down. */
  #probeCooldowns(sinceStartMs: number): void {
    for (const name of this.#options.subnets.names())
      if (sinceStartMs <= this.#cooldownMs(name) + probeIntervalMs) this.#wakeup.probe(anyAddressQueue(name));
  }

  #cooldownMs(subnet: string): number {
    return this.#options.subnets.get(subnet)?.spec.cooldownMs ?? defaultCooldownTimes.cooldownMs;
  }
}

/** Returns the topic of Pods that wait for a Vip's addresses: "vip:<name>". */
const vipTopic = ({ reservedFor }: ReservedAddress): string => reservedFor.replace('/', ':');
