/**
 * Those who could not be served, and what makes them ask again: each event that may help them, and the time at which an address
 * that was released has cooled down, of which no event tells. Who waits for any address gets it in the order of creation.
 */
import type { Pod } from '../kubernetes/objects.ts';
import type { Fact, Reserved } from '../ledger/facts.ts';
import { Bells } from './bells.ts';
import { ageOf, any, linesOf, named, quota } from './lines.ts';
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
    if (fact.kind === 'ended' || fact.kind === 'unbound') this.#freed(fact.subnet);
    else if (fact.kind === 'unreserved' || fact.kind === 'lifted') this.#freed(fact.subnet, 0);
    else if (fact.kind === 'configured') {
      this.ring(`subnet:${fact.subnet.name}`);
      this.ring(`provider:${fact.subnet.spec.provider}`);
    } else if (fact.kind === 'reserved') this.ring(topicOf(fact.reserved));
    else if (fact.kind === 'pool-configured') {
      this.ring(`pool:${fact.pool.name}`);
      this.ring(`subnet:${fact.pool.spec.subnet}`);
    } else if (fact.kind === 'pool-retired') this.ring(`subnet:${fact.subnet}`);
  }

  /** `key` waits for these topics, and no others. */
  wait(key: string, pod: Pod, topics: ReadonlySet<string>): void {
    this.#waiting.wait(key, topics, ageOf(pod));
  }

  /** It is about to ask. */
  asks(key: string): void {
    this.#waiting.asks(key);
  }

  /** It waits no more. */
  end(key: string): void {
    this.#waiting.end(key);
  }

  /** Who waits longer for any of what a Pod asks for, and has not asked just now: an address may have become free since. */
  aheadOf(pod: Pod, plan: Plan): string[] {
    const limits = { most: mostAhead, idleMs: justNowMs };
    return linesOf(plan, any).flatMap((line) => this.#waiting.ahead(line, ageOf(pod), limits));
  }

  /** Who asks for this very address may have it at once; all others when it has cooled down. */
  #freed(subnet: string, cooldownMs = this.#cooldownMs(subnet)): void {
    this.#bells.freed(named(subnet));
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
