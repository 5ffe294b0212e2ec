/**
 * The loop that brings the ledger to what the Pods want: Allocate for who lives and holds nothing, Release for who holds
 * something and is gone or finished. One command at a time for each Pod name.
 *
 * Level-triggered: a turn looks at the Pod as it is and at what the ledger says that its name holds; what happened in
 * between does not matter. What is remembered, as evidence that a Pod is gone, is in endings.ts; who waits, in waiters.ts.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import type { Happening } from '../kubernetes/events.ts';
import { LedgerPods, ledgerKeyOf } from '../kubernetes/ledger-pods.ts';
import { type Change, keyOf, type Source } from '../kubernetes/list-watch.ts';
import { hasAllocatedAnnotation, type NetworkDefinition, type Pod, type StatefulSet } from '../kubernetes/objects.ts';
import { type Allocator, allocateTimeoutMs } from '../ledger/allocator.ts';
import { type Fact, holdingOf } from '../ledger/facts.ts';
import type { Reader } from '../ledger/follow.ts';
import { type Outcome, Queue } from '../queue.ts';
import { Endings, type EndingsOptions } from './endings.ts';
import type { Holdings } from './holdings.ts';
import { takesOver } from './inherit.ts';
import { allLinesOf, quotaLinesOf } from './lines.ts';
import { Lives } from './lives.ts';
import { Networks } from './networks.ts';
import { ownerOf } from './owner.ts';
import { type Plan, planFor } from './plan.ts';
import { type Heir, Releases } from './release.ts';
import type { Sight } from './sight.ts';
import type { Subnets } from './subnets.ts';
import { Waiters } from './waiters.ts';
import { allocatedAfterAll, cannotAsk, notServed, refused, takenName, warned } from './why.ts';

export interface ReconcilerOptions extends Omit<EndingsOptions, 'pods' | 'statefulSets' | 'lives'> {
  readonly allocator: Pick<Allocator, 'allocate' | 'release' | 'listBindings'>;
  readonly pods: Pick<Source<Pod>, 'objects' | 'subscribe'>;
  readonly statefulSets: Pick<Source<StatefulSet>, 'objects' | 'subscribe'>;
  readonly networks: Pick<Source<NetworkDefinition>, 'subscribe'>;
  readonly subnets: Subnets;
  /** What else of the world decides. */
  readonly sight: Pick<Sight, 'pools' | 'vip' | 'namespaceOf'>;
  readonly holdings: Holdings;
  /** Tells people about a Pod. */
  readonly say: (pod: Pod, happening: Happening) => void;
  /** How long a Pod that was refused waits, at first and at most, when nothing rings for it. */
  readonly backoffMs?: readonly [first: number, most: number];
  /** How often all who hold something are looked at, whether or not anything happened; 0: never. */
  readonly garbageEveryMs?: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const concurrency = 64;
const usualBackoffMs = [500, 30_000] as const;
/** An allocator that does not answer is no news for a Pod before this many tries. */
const silentTries = 3;
const usualGarbageEveryMs = 360_000;

/** How it went with the Pod that has the name now; and what it may yet take over of what an earlier one holds. */
interface Served extends Pick<Heir, 'awaits'> {
  readonly outcome: Outcome;
}

const nothing = (): boolean => false;

export class Reconciler implements Reader {
  readonly #options: ReconcilerOptions;
  readonly #pods: LedgerPods;
  readonly #queue: Queue;
  readonly #waiters: Waiters;
  readonly #lives = new Lives();
  readonly #endings: Endings;
  readonly #releases: Releases;
  readonly #sight: Sight;
  /** Pods whose Events are to be closed with a good one; and those told what is not ours. */
  readonly #told = new Set<string>();
  readonly #noted = new Map<string, string>();
  #started = false;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#pods = new LedgerPods(options.pods);
    this.#endings = new Endings({ ...options, pods: this.#pods, lives: this.#lives });
    this.#releases = new Releases({ ...options, endings: this.#endings });
    const { subnets, statefulSets, sight } = options;
    this.#sight = {
      ...sight,
      subnets,
      network: new Networks(options.networks, (key) => this.ring(`network:${key}`)).of,
      ordinalStart: (owner, namespace) => {
        const set = statefulSets.objects.get(keyOf({ namespace, name: owner.name }));
        return set?.uid === owner.uid ? set.firstOrdinal : undefined;
      },
    };
    const { log, signal, backoffMs = usualBackoffMs } = options;
    this.#waiters = new Waiters({ subnets, signal, wake: (key) => this.#queue.add(key) });
    const [firstBackoffMs, mostBackoffMs] = backoffMs;
    const work = (key: string) => this.#turn(key);
    this.#queue = new Queue({ concurrency, firstBackoffMs, mostBackoffMs, work, log, signal });
    options.holdings.onEnded(({ subnet, mac }) => this.#waiters.freedMac(subnet, mac));
    options.pods.subscribe((change) => this.#onPod(change));
    options.statefulSets.subscribe((change) => this.#onStatefulSet(change));
  }

  /** How many Pods vanished, while that halts all releases; else 0. */
  get vanished(): number {
    return this.#endings.vanished;
  }

  /** How many Pods wait for addresses. */
  get waiting(): number {
    return this.#waiters.size;
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
    this.#waiters.start();
    const { garbageEveryMs = usualGarbageEveryMs, signal } = this.#options;
    if (garbageEveryMs <= 0 || signal.aborted) return;
    const scan = setInterval(() => this.#lookAtHolders(), garbageEveryMs).unref();
    signal.addEventListener('abort', () => clearInterval(scan), { once: true });
  }

  #lookAtAll(): void {
    this.#lookAtHolders();
    for (const key of this.#pods.keys()) this.#queue.add(key);
  }

  /** Looks again at who waits for this: a topic of a plan. */
  ring(topic: string): void {
    this.#waiters.ring(topic);
  }

  /** The Subnets or IPPools of a namespace have changed, of which its Pods may not even know that they wait for them. */
  lookAtNamespace(namespace: string): void {
    if (!this.#started) return;
    for (const key of this.#pods.ofNamespace(namespace)) this.#queue.add(key);
  }

  /** What a Pod was given may be missing from the new one: a ledger may be rewound. */
  snapshot(): void {
    if (this.#started) this.#lookAtAll();
  }

  facts(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.kind === 'unbound') this.#onUnbound(fact);
      else this.#waiters.hear(fact);
      if (fact.kind === 'ended') this.#queue.add(keyOf({ namespace: fact.namespace, name: fact.pod }));
      else if (fact.kind === 'given')
        this.#queue.add(keyOf({ namespace: fact.holding.namespace, name: fact.holding.pod }));
    }
  }

  /** It concerns the Pod if it waits to give up what was bound, and others only where the Pod does not hold the address any more. */
  #onUnbound(fact: Extract<Fact, { kind: 'unbound' }>): void {
    const { namespace, pod, subnet, addresses } = fact;
    const key = keyOf({ namespace, name: pod });
    if (this.#releases.bound.has(key)) this.#queue.add(key);
    if (!this.#options.holdings.holdsAny(key, subnet, addresses)) this.#waiters.hear(fact);
  }

  #onPod(change: Change<Pod>): void {
    if (change.kind === 'listed') {
      if (this.#started) this.#lookAtHolders();
      return;
    }
    const key = ledgerKeyOf(change.object);
    if (change.kind === 'present') {
      // A launcher was known by its own name until its machine was seen.
      if (change.before && ledgerKeyOf(change.before) !== key) this.#queue.add(ledgerKeyOf(change.before));
      return this.#queue.add(key);
    }
    this.#noted.delete(key);
    this.#lives.forget(change.object);
    const waitMs = this.#endings.gone(change.object, change.witnessed);
    if (waitMs > 0) this.#queue.addAfter(key, waitMs);
    // A deletion that a list implies is judged with all others of that list, at its end.
    else if (change.witnessed) this.#queue.add(key);
  }

  /** Its word decides about members that are gone already. */
  #onStatefulSet(change: Change<StatefulSet>): void {
    if (change.kind === 'listed') return;
    const { object } = change;
    const before = change.kind === 'present' ? change.before : undefined;
    const says = ({ uid, replicas, firstOrdinal, deleting }: StatefulSet): string =>
      [uid, replicas, firstOrdinal, deleting].join();
    if (before && change.kind === 'present' && says(before) === says(object)) return;
    this.ring(`set:${keyOf(object)}`);
    for (const key of this.#options.holdings.membersOf(keyOf(object))) this.#queue.add(key);
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
    const pod = this.#pods.get(key);
    const life = pod && this.#lives.of(pod);
    if (!pod || life?.state !== 'alive') {
      this.#waiters.end(key);
      this.#releases.bound.delete(key);
      this.#told.delete(key);
      return this.#releases.ended(
        key,
        life?.state === 'host' ? { uid: pod?.identity ?? '', awaits: nothing } : undefined,
      );
    }
    if (life.endsInMs !== undefined) this.#queue.addAfter(key, life.endsInMs);
    const served = this.#isGoingWithout(key, pod) ? this.#leave(key) : await this.#serve(key, pod);
    const released = await this.#releases.ended(key, { uid: pod.identity, awaits: served.awaits });
    return served.outcome === 'done' ? released : served.outcome;
  }

  /** No sandbox is made of a Pod that is being deleted: one that has no address by then never needs one. */
  #isGoingWithout(key: string, { identity, deletionTimestamp, annotations }: Pod): boolean {
    const shows = hasAllocatedAnnotation(annotations);
    return deletionTimestamp !== '' && !shows && this.#options.holdings.of(key, identity).length === 0;
  }

  /** What an earlier Pod of the name holds is for the next one to take over. */
  #leave(key: string): Served {
    this.#waiters.end(key);
    return { outcome: 'done', awaits: 'all' };
  }

  /** Once for each Pod. */
  #note(key: string, pod: Pod, plan: Plan): void {
    if (plan.notes.length === 0 && plan.warnings.length === 0) return;
    this.#noted.set(key, pod.uid);
    if (plan.notes.length > 0) this.#options.say(pod, notServed(plan));
    if (plan.warnings.length > 0) this.#options.say(pod, warned(plan));
  }

  async #serve(key: string, pod: Pod): Promise<Served> {
    const { holdings } = this.#options;
    const settled = holdings.settled(key, pod.identity);
    const held = holdings.of(key, pod.identity).sort((one, other) => one.ordinal - other.ordinal);
    const plan = planFor(pod, this.#sight, held);
    if (pod.phase === 'Pending' && this.#noted.get(key) !== pod.uid) this.#note(key, pod, plan);
    const givenUp = await this.#releases.givenUp(pod, plan.removed);
    const namesake = plan.attachments.length > 0 ? this.#namesakeOf(key, pod) : undefined;
    if (namesake) {
      this.#keepWaiting(key, { pod, topics: plan.topics, happening: cannotAsk(takenName(pod, namesake)) });
      return { outcome: 'again', awaits: 'all' };
    }
    if (plan.problems.length > 0) {
      // A Subnet or network that is applied together with its Pods is there in a moment.
      const news = this.#queue.tries(key) > 0 || plan.problems.some(({ about }) => about === 'request');
      this.#keepWaiting(key, { pod, topics: plan.topics, happening: news ? cannotAsk(plan) : undefined });
      // Only a change of the Pod or of a topic helps with what the Pod itself says; all of these have it looked at.
      const isOwn = plan.problems.some(({ about }) => about === 'request');
      return { outcome: isOwn ? givenUp : 'again', awaits: settled ? nothing : 'all' };
    }
    if (plan.attachments.length === 0) {
      this.#waiters.end(key);
      return { outcome: givenUp, awaits: nothing };
    }
    const ahead = this.#waiters.aheadOf(key, pod, plan);
    if (ahead.length === 0) return this.#allocate(key, pod, plan);
    for (const each of [...ahead, key]) this.#queue.add(each);
    return { outcome: 'again', awaits: 'all' };
  }

  /** A Pod and a virtual machine may be called alike, and what the one holds is not passed on while it lives. */
  #namesakeOf(key: string, { identity }: Pod): Pod | undefined {
    const holders = this.#options.holdings.uids(key).filter((uid) => uid !== identity);
    return this.#pods
      .all(key)
      .find((other) => holders.includes(other.identity) && this.#lives.of(other).state === 'alive');
  }

  async #allocate(key: string, pod: Pod, plan: Plan): Promise<Served> {
    const { allocator, holdings, say, signal } = this.#options;
    const { namespace, ledgerName: name, identity: uid, node } = pod;
    const request = {
      pod: { namespace, name, uid, node, owner: ownerOf(pod) },
      attachments: plan.attachments,
      validMs: allocateTimeoutMs,
    };
    this.#waiters.asks(key);
    holdings.begin(key, uid);
    try {
      const { allocations, position } = await allocator.allocate(request, signal);
      holdings.granted(key, uid, { given: allocations.map(holdingOf), seq: position?.seq ?? 0 });
      this.#waiters.end(key);
      if (this.#told.delete(key)) say(pod, allocatedAfterAll(allocations));
      return { outcome: 'done', awaits: nothing };
    } catch (thrown) {
      if (signal.aborted) return { outcome: 'again', awaits: 'all' };
      return this.#notAllocated(key, { pod, plan, error: IpledgerError.from(thrown) });
    }
  }

  #notAllocated(key: string, { pod, plan, error }: { pod: Pod; plan: Plan; error: IpledgerError }): Served {
    const { holdings, log } = this.#options;
    const { identity: uid } = pod;
    // Of a transient failure nobody knows whether the request took effect: the uid stays among those to be released.
    const decided = error.kind !== 'transient' && error.kind !== 'bug';
    if (decided) holdings.refused(key, uid);
    const tries = this.#queue.tries(key);
    log[tries === 0 && error.kind !== 'transient' ? 'info' : 'debug'](
      { pod: key, uid, code: error.code, reason: error.message },
      'intent: not allocated',
    );
    const news = error.kind !== 'transient' || tries >= silentTries;
    const lines =
      error.code === 'NAMESPACE_QUOTA_EXCEEDED'
        ? quotaLinesOf(plan, pod.namespace)
        : allLinesOf(plan, error.kind === 'exhausted');
    const topics = new Set([...plan.topics, ...lines]);
    this.#keepWaiting(key, { pod, topics, happening: news ? refused(error, plan) : undefined });
    return { outcome: 'again', awaits: decided ? (holding) => takesOver(holding, plan.attachments) : 'all' };
  }

  #keepWaiting(
    key: string,
    { pod, topics, happening }: { pod: Pod; topics: ReadonlySet<string>; happening: Happening | undefined },
  ): void {
    this.#waiters.wait(key, pod, topics);
    if (!happening) return;
    this.#told.add(key);
    this.#options.say(pod, happening);
  }
}
