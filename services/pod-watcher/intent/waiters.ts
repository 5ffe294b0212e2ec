/**
 * Those who could not be served, and what makes them ask again: each event that may help them, and the time at which an address
 * that was released has cooled down, of which no event tells. Who waits for any address gets it in the order of creation.
 */
import type { Pod } from '../kubernetes/objects.ts';
import type { Fact, Reserved } from '../ledger/facts.ts';
import { Bells } from './bells.ts';
import { ageOf, any, anyLinesOf, named, ofMac, quota } from './lines.ts';
import type { Plan } from './plan.ts';
import type { Subnets } from './subnets.ts';
import { Waiting } from './waiting.ts';

export interface WaitersOptions {
  readonly subnets: Pick<Subnets, 'inForce' | 'names'>;
  /** Has a Pod "namespace/name" looked at. */
  readonly wake: (pod: string) => void;
  readonly signal: AbortSignal;
}

/** So many who wait are asked before somebody younger is, unless they were just now. */
const mostAhead = 4;
const justNowMs = 100;
/** The ledger's clock may lag behind ours, by the time that an event takes. */
const cooledMs = 20;
/** How often the oldest are asked while it is not known when an address has cooled down. */
const coolingEveryMs = 500;
/** Of a subnet that says nothing else. */
const usualCooldownMs = 60_000;

export class Waiters {
  readonly #options: WaitersOptions;
  readonly #waiting = new Waiting();
  readonly #bells: Bells;
  /** When a Pod let older ones ask first, of performance.now(), until it asks itself. */
  readonly #yielded = new Map<string, number>();
  #started = false;

  constructor(options: WaitersOptions) {
    this.#options = options;
    this.#bells = new Bells(this.#waiting, options.wake);
  }

  /** How many Pods wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Begins. Before, nobody waits. */
  start(): void {
    const { signal } = this.#options;
    this.#started = true;
    if (signal.aborted) return;
    const startedAt = performance.now();
    const timer = setInterval(() => this.#askWhatCools(performance.now() - startedAt), coolingEveryMs).unref();
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  /** Looks again at who waits for this: a topic of a plan. */
  ring(topic: string): void {
    if (this.#started) this.#bells.ring(topic);
  }

  /** The ledger says something that may help them. */
  hear(fact: Fact): void {
    if (fact.kind === 'ended') this.#bells.freed(quota(fact.subnet, fact.namespace));
    if (fact.kind === 'ended' || fact.kind === 'unbound') this.#freed(fact.subnet, fact.addresses);
    else if (fact.kind === 'unreserved' || fact.kind === 'lifted') this.#freed(fact.subnet, [fact.address], 0);
    else if (fact.kind === 'configured') {
      this.ring(`subnet:${fact.subnet.name}`);
      this.ring(`provider:${fact.subnet.spec.provider}`);
    } else if (fact.kind === 'reserved') this.ring(topicOf(fact.reserved));
    else if (fact.kind === 'pool-configured') {
      this.ring(`pool:${fact.pool.name}`);
      this.ring(`subnet:${fact.pool.spec.subnet}`);
    } else if (fact.kind === 'pool-retired') this.ring(`subnet:${fact.subnet}`);
  }

  /** A MAC of a subnet is held no more. */
  freedMac(subnet: string, mac: string): void {
    if (mac !== '') this.#bells.freed(ofMac(subnet, mac));
  }

  /** `key` waits for these topics, and no others. */
  wait(key: string, pod: Pod, topics: ReadonlySet<string>): void {
    this.#waiting.wait(key, topics, ageOf(pod));
  }

  /** It is about to ask. */
  asks(key: string): void {
    this.#yielded.delete(key);
    this.#waiting.asks(key);
  }

  /** It waits no more. */
  end(key: string): void {
    this.#yielded.delete(key);
    this.#waiting.end(key);
  }

  /**
   * Who waits longer for any of what a Pod asks for, and has not asked just now: an address may have become free since. A Pod lets
   * each of them ask once before it asks itself, however long the queue of all Pods is meanwhile.
   */
  aheadOf(key: string, pod: Pod, plan: Plan): string[] {
    const now = performance.now();
    const limits = { most: mostAhead, since: this.#yielded.get(key) ?? now - justNowMs };
    const ahead = anyLinesOf(plan).flatMap((line) => this.#waiting.ahead(line, ageOf(pod), limits));
    if (ahead.length > 0 && !this.#yielded.has(key)) this.#yielded.set(key, now);
    return ahead;
  }

  /** Who asks for this very address may have it at once; who asks for any, when it has cooled down. */
  #freed(subnet: string, addresses: readonly string[], cooldownMs = this.#cooldownMs(subnet)): void {
    if (addresses.length === 0) return;
    for (const address of addresses) this.#bells.freed(named(address));
    this.#bells.freedIn(any(subnet), cooldownMs === 0 ? 0 : cooldownMs + cooledMs);
  }

  /** What was released before the start cools down, too; nobody told when. */
  #askWhatCools(sinceStartMs: number): void {
    for (const name of this.#options.subnets.names())
      if (sinceStartMs <= this.#cooldownMs(name) + coolingEveryMs) this.#bells.mayBeFree(any(name));
  }

  #cooldownMs(subnet: string): number {
    return this.#options.subnets.inForce(subnet)?.spec.cooldownMs ?? usualCooldownMs;
  }
}

/** Who waits for a Vip's addresses: "vip:<name>". */
const topicOf = ({ reservedFor }: Reserved): string => reservedFor.replace('/', ':');
