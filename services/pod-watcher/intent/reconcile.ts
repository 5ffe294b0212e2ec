/**
 * The loop that brings the ledger to what the Pods want: Allocate for who lives and holds nothing, Release for who holds
 * something and is gone or finished. One command at a time for each Pod name.
 *
 * Level-triggered: a turn looks at the Pod as it is and at what the ledger says that its name holds; what happened in
 * between does not matter. What is remembered, as evidence that a Pod is gone, is in endings.ts.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import type { Happening } from '../kubernetes/events.ts';
import { type Change, keyOf, type Source } from '../kubernetes/list-watch.ts';
import type { NetworkDefinition, Pod } from '../kubernetes/objects.ts';
import { type Allocator, allocateTimeoutMs } from '../ledger/allocator.ts';
import type { Fact } from '../ledger/facts.ts';
import type { Reader } from '../ledger/follow.ts';
import { type Outcome, Queue } from '../queue.ts';
import { Bells } from './bells.ts';
import { Endings, type EndingsOptions } from './endings.ts';
import type { Holdings } from './holdings.ts';
import { lifeOf } from './life.ts';
import { type Network, networkOf } from './network.ts';
import { ownerOf } from './owner.ts';
import { type Plan, planFor } from './plan.ts';
import type { Subnets } from './subnets.ts';
import { Waiting } from './waiting.ts';
import { allocatedAfterAll, cannotAsk, notServed, refused } from './why.ts';

export interface ReconcilerOptions extends Omit<EndingsOptions, 'pods'> {
  readonly allocator: Pick<Allocator, 'allocate' | 'release'>;
  readonly pods: Pick<Source<Pod>, 'objects' | 'subscribe'>;
  readonly networks: Pick<Source<NetworkDefinition>, 'objects' | 'subscribe'>;
  readonly subnets: Subnets;
  readonly holdings: Holdings;
  /** Tells people about a Pod. */
  readonly say: (pod: Pod, happening: Happening) => void;
  /** How long a Pod that was refused waits, at first and at most, when nothing rings for it. */
  readonly backoffMs?: readonly [first: number, most: number];
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const concurrency = 64;
const usualBackoffMs = [500, 30_000] as const;
/** An allocator that does not answer is no news for a Pod before this many tries. */
const silentTries = 3;

export class Reconciler implements Reader {
  readonly #options: ReconcilerOptions;
  readonly #queue: Queue;
  readonly #waiting = new Waiting();
  readonly #bells = new Bells(this.#waiting, (key) => this.#queue.add(key));
  readonly #networks = new Map<string, Network>();
  readonly #endings: Endings;
  /** Pods whose Events are to be closed with a good one; and those told what is not ours. */
  readonly #told = new Set<string>();
  readonly #noted = new Map<string, string>();
  #started = false;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#endings = new Endings(options);
    const { log, signal, backoffMs = usualBackoffMs } = options;
    const [firstBackoffMs, mostBackoffMs] = backoffMs;
    const work = (key: string) => this.#turn(key);
    this.#queue = new Queue({ concurrency, firstBackoffMs, mostBackoffMs, work, log, signal });
    options.pods.subscribe((change) => this.#onPod(change));
    options.networks.subscribe((change) => this.#onNetwork(change));
  }

  /** How many Pods vanished, while that halts all releases; else 0. */
  get vanished(): number {
    return this.#endings.vanished;
  }

  /** To be awaited before the start, when as much is known as then. */
  prepare(): Promise<void> {
    return this.#endings.prepare();
  }

  /** Begins; Pods, networks, Subnets and the ledger's snapshot must be known by now. */
  start(): void {
    this.#started = true;
    this.#lookAtAll();
    this.#queue.start();
  }

  #lookAtAll(): void {
    this.#lookAtHolders();
    for (const key of this.#options.pods.objects.keys()) this.#queue.add(key);
  }

  /** Looks again at who waits for this: "subnet:<name>", "provider:<provider>" or "network:<namespace>/<name>". */
  ring(topic: string): void {
    // Before the start nobody waits: the start looks at everybody.
    if (this.#started) this.#bells.ring(topic);
  }

  /** What a Pod was given may be missing from the new one: a ledger may be rewound. */
  snapshot(): void {
    if (this.#started) this.#lookAtAll();
  }

  facts(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.kind === 'ended') {
        this.#bells.freed(`subnet:${fact.subnet}`);
        this.#queue.add(keyOf({ namespace: fact.namespace, name: fact.pod }));
      } else if (fact.kind === 'unbound') this.#bells.freed(`subnet:${fact.subnet}`);
      else if (fact.kind === 'given')
        this.#queue.add(keyOf({ namespace: fact.holding.namespace, name: fact.holding.pod }));
      else if (fact.kind === 'configured') {
        this.ring(`subnet:${fact.subnet.name}`);
        this.ring(`provider:${fact.subnet.spec.provider}`);
      }
    }
  }

  #onPod(change: Change<Pod>): void {
    if (change.kind === 'listed') {
      if (this.#started) this.#lookAtHolders();
      return;
    }
    const key = keyOf(change.object);
    if (change.kind === 'present') return this.#queue.add(key);
    this.#noted.delete(key);
    const waitMs = this.#endings.gone(change.object, change.witnessed);
    if (waitMs > 0) this.#queue.addAfter(key, waitMs);
    // A deletion that a list implies is judged with all others of that list, at its end.
    else if (change.witnessed) this.#queue.add(key);
  }

  #onNetwork(change: Change<NetworkDefinition>): void {
    if (change.kind === 'listed') return;
    const key = keyOf(change.object);
    if (change.kind === 'present') this.#networks.set(key, networkOf(change.object));
    else this.#networks.delete(key);
    this.ring(`network:${key}`);
  }

  /** Everybody who holds something: too many may be missing to be true, or no longer. */
  #lookAtHolders(): void {
    this.#endings.judge();
    for (const key of this.#options.holdings.pods()) this.#queue.add(key);
  }

  /**
   * Who lives under the name first, then who is gone: what a namesake still holds is passed on to a Pod that asks for it, and
   * only the rest is released.
   */
  async #turn(key: string): Promise<Outcome> {
    const pod = this.#options.pods.objects.get(key);
    const life = pod && lifeOf(pod, Date.now());
    let served: Outcome = 'done';
    if (pod && life?.state === 'alive') {
      if (life.endsInMs !== undefined) this.#queue.addAfter(key, life.endsInMs);
      if (!this.#options.holdings.settled(key, pod.identity)) served = await this.#serve(key, pod);
    } else {
      this.#waiting.end(key);
      this.#told.delete(key);
    }
    const released = await this.#releaseEnded(key);
    return served === 'done' ? released : served;
  }

  async #releaseEnded(key: string): Promise<Outcome> {
    const { allocator, holdings, signal } = this.#options;
    let outcome: Outcome = 'done';
    for (const uid of holdings.uids(key)) {
      const ending = holdings.releasing(key, uid) ? 'unsure' : await this.#endings.of(key, uid);
      if (ending === 'unsure') outcome = 'again';
      if (typeof ending === 'string') continue;
      const [namespace = '', pod = ''] = key.split('/');
      const { position } = await allocator.release({ namespace, pod, podUid: uid, ...ending }, signal);
      holdings.released(key, uid, position?.seq ?? 0);
      // The ledger tells of the end in a moment, and this is looked at then; or it does not, since something was left.
      if (holdings.uids(key).includes(uid)) outcome = 'again';
    }
    this.#endings.forget(key);
    return outcome;
  }

  async #serve(key: string, pod: Pod): Promise<Outcome> {
    const plan = planFor(pod, { network: (name) => this.#networks.get(name), subnets: this.#options.subnets });
    if (plan.notes.length > 0 && pod.phase === 'Pending' && this.#noted.get(key) !== pod.uid) {
      this.#noted.set(key, pod.uid);
      this.#options.say(pod, notServed(plan));
    }
    if (plan.problems.length > 0) {
      // A Subnet or network that is applied together with its Pods is there in a moment.
      const news = this.#queue.tries(key) > 0 || plan.problems.some(({ about }) => about === 'request');
      return this.#keepWaiting(key, { pod, plan, happening: news ? cannotAsk(plan) : undefined });
    }
    if (plan.attachments.length === 0) {
      this.#waiting.end(key);
      return 'done';
    }
    return this.#allocate(key, pod, plan);
  }

  async #allocate(key: string, pod: Pod, plan: Plan): Promise<Outcome> {
    const { allocator, holdings, say, log, signal } = this.#options;
    const { namespace, name, identity: uid, node } = pod;
    const request = {
      pod: { namespace, name, uid, node, owner: ownerOf(pod) },
      attachments: plan.attachments,
      validMs: allocateTimeoutMs,
    };
    holdings.begin(key, uid);
    try {
      const { allocations, position } = await allocator.allocate(request, signal);
      holdings.granted(key, uid, { seqs: allocations.map(({ seq }) => seq), seq: position?.seq ?? 0 });
      this.#waiting.end(key);
      if (this.#told.delete(key)) say(pod, allocatedAfterAll(allocations));
      return 'done';
    } catch (thrown) {
      if (signal.aborted) return 'again';
      const error = IpledgerError.from(thrown);
      // Of a transient failure nobody knows whether the request took effect: the uid stays among those to be released.
      if (error.kind !== 'transient' && error.kind !== 'bug') holdings.refused(key, uid);
      const tries = this.#queue.tries(key);
      log[tries === 0 && error.kind !== 'transient' ? 'info' : 'debug'](
        { pod: key, uid, code: error.code, reason: error.message },
        'intent: not allocated',
      );
      const news = error.kind !== 'transient' || tries >= silentTries;
      return this.#keepWaiting(key, { pod, plan, happening: news ? refused(error, plan) : undefined });
    }
  }

  #keepWaiting(
    key: string,
    { pod, plan, happening }: { pod: Pod; plan: Plan; happening: Happening | undefined },
  ): Outcome {
    this.#waiting.wait(key, plan.topics);
    if (happening) {
      this.#told.add(key);
      this.#options.say(pod, happening);
    }
    return 'again';
  }
}
