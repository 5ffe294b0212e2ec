/**
 * The loop that brings the ledger to what the Pods want: Allocate for who lives and holds nothing, Release for who holds
 * something and is gone or finished. One command at a time for each Pod name.
 *
 * Level-triggered: a turn looks at the Pod as it is and at what the ledger says that its name holds; what happened in
 * between does not matter. The one thing remembered is the evidence that a Pod was seen to go.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import type { ReleaseCause } from '../../../proto/ipledger.ts';
import type { Happening } from '../kubernetes/events.ts';
import { type Change, keyOf, type Source } from '../kubernetes/list-watch.ts';
import type { NetworkDefinition, Pod } from '../kubernetes/objects.ts';
import { type Allocator, allocateTimeoutMs } from '../ledger/allocator.ts';
import type { Fact } from '../ledger/facts.ts';
import type { Reader } from '../ledger/follow.ts';
import { type Outcome, Queue } from '../queue.ts';
import { Bells } from './bells.ts';
import type { Holdings } from './holdings.ts';
import { lifeOf } from './life.ts';
import { type Network, networkOf } from './network.ts';
import { ownerOf } from './owner.ts';
import { type Plan, planFor } from './plan.ts';
import type { Subnets } from './subnets.ts';
import { implausible } from './vanished.ts';
import { Waiting } from './waiting.ts';
import { allocatedAfterAll, cannotAsk, notServed, refused } from './why.ts';

export interface ReconcilerOptions {
  readonly allocator: Pick<Allocator, 'allocate' | 'release'>;
  readonly pods: Pick<Source<Pod>, 'objects' | 'subscribe'>;
  readonly networks: Pick<Source<NetworkDefinition>, 'objects' | 'subscribe'>;
  readonly subnets: Subnets;
  readonly holdings: Holdings;
  /** Tells people about a Pod. */
  readonly say: (pod: Pod, happening: Happening) => void;
  /** The Pod "namespace/name" as the API has it at this moment; undefined if there is none. */
  readonly lookUp: (key: string, signal: AbortSignal) => Promise<Pod | undefined>;
  /** Release also when so many Pods are missing at once that the API server's memory is in doubt. */
  readonly acceptVanished: boolean;
  /** How long a Pod that was refused waits, at first and at most, when nothing rings for it. */
  readonly backoffMs?: readonly [first: number, most: number];
  /** How long a static Pod is believed to run on after its mirror was deleted. */
  readonly mirrorGraceMs?: number;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const concurrency = 64;
const usualBackoffMs = [500, 30_000] as const;
/** A kubelet looks after the mirrors of its static Pods about once a minute. */
const usualMirrorGraceMs = 120_000;
/** An allocator that does not answer is no news for a Pod before this many tries. */
const silentTries = 3;

interface Ending {
  readonly cause: ReleaseCause;
  readonly evidence: string;
}

export class Reconciler implements Reader {
  readonly #options: ReconcilerOptions;
  readonly #queue: Queue;
  readonly #waiting = new Waiting();
  readonly #bells = new Bells(this.#waiting, (key) => this.#queue.add(key));
  readonly #networks = new Map<string, Network>();
  /** Uids that were seen to go while they held something, by Pod. */
  readonly #seenGone = new Map<string, Set<string>>();
  /** By Pod: until then (of performance.now()) it is not taken to be gone, though it is not in the API. */
  readonly #notGoneBefore = new Map<string, number>();
  /** Pods whose Events are to be closed with a good one; and those told what is not ours. */
  readonly #told = new Set<string>();
  readonly #noted = new Map<string, string>();
  #halted = false;
  #started = false;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    const { log, signal, backoffMs = usualBackoffMs } = options;
    const [firstBackoffMs, mostBackoffMs] = backoffMs;
    const work = (key: string) => this.#turn(key);
    this.#queue = new Queue({ concurrency, firstBackoffMs, mostBackoffMs, work, log, signal });
    options.pods.subscribe((change) => this.#onPod(change));
    options.networks.subscribe((change) => this.#onNetwork(change));
  }

  /** Begins; Pods, networks, Subnets and the ledger's snapshot must be known by now. */
  start(): void {
    this.#started = true;
    this.#lookAtAll();
    this.#queue.start();
  }

  #lookAtAll(): void {
    this.#judgeMissing();
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
      if (this.#started) this.#judgeMissing();
      return;
    }
    const key = keyOf(change.object);
    if (change.kind === 'gone') {
      this.#noted.delete(key);
      const { identity, uid } = change.object;
      // A static Pod runs on when its mirror is deleted, and its kubelet makes a new one.
      if (identity !== uid) return this.#awaitMirror(key);
      // A deletion that a list implies is judged with all others of that list, at its end.
      if (!change.witnessed) return;
      if (this.#options.holdings.uids(key).includes(identity)) this.#witness(key, identity);
    }
    this.#queue.add(key);
  }

  #awaitMirror(key: string): void {
    const { mirrorGraceMs = usualMirrorGraceMs } = this.#options;
    this.#notGoneBefore.set(key, performance.now() + mirrorGraceMs);
    this.#queue.addAfter(key, mirrorGraceMs);
  }

  #witness(key: string, uid: string): void {
    const seen = this.#seenGone.get(key);
    if (seen) seen.add(uid);
    else this.#seenGone.set(key, new Set([uid]));
  }

  #onNetwork(change: Change<NetworkDefinition>): void {
    if (change.kind === 'listed') return;
    const key = keyOf(change.object);
    if (change.kind === 'present') this.#networks.set(key, networkOf(change.object));
    else this.#networks.delete(key);
    this.ring(`network:${key}`);
  }

  /** Who holds something and is not in the API: looked at one by one, unless they are too many to be true. */
  #judgeMissing(): void {
    const { pods, holdings, log, acceptVanished } = this.#options;
    const missing: string[] = [];
    for (const key of holdings.pods()) if (!pods.objects.has(key) && !this.#seenGone.has(key)) missing.push(key);
    this.#halted = implausible(missing.length, holdings.count) && !acceptVanished;
    if (this.#halted)
      log.error(
        { missing: missing.length, holding: holdings.count, first: missing.slice(0, 5) },
        'ALARM: most of the Pods that hold addresses are missing from the Kubernetes API all at once; nothing is released. ' +
          'If the API server lost its data, bring it back; if the Pods are really gone, restart this watcher once with --accept-vanished',
      );
    for (const key of holdings.pods()) this.#queue.add(key);
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
      const ending = await this.#endingOf(key, uid);
      if (ending === 'unsure') outcome = 'again';
      if (typeof ending === 'string') continue;
      const [namespace = '', pod = ''] = key.split('/');
      await allocator.release({ namespace, pod, podUid: uid, ...ending }, signal);
      holdings.released(key, uid);
    }
    if (holdings.uids(key).length === 0) {
      this.#seenGone.delete(key);
      this.#notGoneBefore.delete(key);
    }
    return outcome;
  }

  /** Why this uid needs its addresses no more. */
  async #endingOf(key: string, uid: string): Promise<Ending | 'living' | 'unsure'> {
    const { pods, lookUp, signal } = this.#options;
    const pod = pods.objects.get(key);
    if (pod?.identity === uid) {
      const life = lifeOf(pod, Date.now());
      if (life.state === 'completed') return ended('RELEASE_CAUSE_POD_COMPLETED', `phase ${pod.phase}`);
      if (life.state !== 'overdue') return 'living';
      return ended(
        'RELEASE_CAUSE_POD_DELETED',
        `terminating since ${pod.deletionTimestamp}, and overdue by a whole grace period`,
      );
    }
    if (pod) return ended('RELEASE_CAUSE_POD_DELETED', `the name belongs to Pod uid ${pod.identity} now`);
    if (this.#seenGone.get(key)?.has(uid)) return ended('RELEASE_CAUSE_POD_DELETED', '');
    if (this.#halted || performance.now() < (this.#notGoneBefore.get(key) ?? 0)) return 'unsure';
    const found = await lookUp(key, signal);
    return found?.identity === uid ? 'unsure' : ended('RELEASE_CAUSE_POD_DELETED', 'not in the Kubernetes API');
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

function ended(cause: ReleaseCause, evidence: string): Ending {
  return { cause, evidence };
}
