/**
 * Who needs its addresses no more, and how that is known. A Pod is gone when the API says so: in its last words, when it
 * looked at once more, or by somebody else under its name. While so many are missing that the API server's memory is in
 * doubt, nobody is.
 *
 * What is kept for a Pod's owner, however the Pod ended, is in retention.ts.
 */
import type { Logger } from '../../../lib/log.ts';
import { machineKind } from '../../../lib/pod-identity.ts';
import type { Owner } from '../../../proto/ipledger.ts';
import { type LedgerPods, ledgerKeyOf } from '../kubernetes/ledger-pods.ts';
import type { Pod } from '../kubernetes/objects.ts';
import { Garbage, type GarbageOptions } from './garbage.ts';
import type { Holdings } from './holdings.ts';
import type { Lives } from './lives.ts';
import { type Ending, ownerOf } from './owner.ts';
import { Retention, type RetentionOptions } from './retention.ts';
import { Vanished } from './vanished.ts';

export interface EndingsOptions extends GarbageOptions, RetentionOptions {
  readonly pods: LedgerPods;
  readonly holdings: Holdings;
  readonly lives: Lives;
  /** Those that were deleted while nobody watched, as far as the API server remembers. */
  readonly recall?: (signal: AbortSignal) => AsyncIterable<Pod>;
  /** Release also when so many Pods are missing at once that the API server's memory is in doubt. */
  readonly acceptVanished: boolean;
  /** How many were missing when an earlier watcher halted; 0 if it had not. */
  readonly vanishedBefore?: number;
  /** Says what halts all releases; undefined when nothing does any more. */
  readonly alarm: (sentence: string | undefined) => void;
  /** How long a static Pod is believed to run on after its mirror was deleted. */
  readonly mirrorGraceMs?: number;
  /** How long one that vanished without being deleted is waited for; others may follow. */
  readonly vanishedGraceMs?: number;
  readonly log: Logger;
}

/** A kubelet looks after the mirrors of its static Pods about once a minute. */
const usualMirrorGraceMs = 120_000;
const usualVanishedGraceMs = 10_000;
const judgeEveryMs = 1_000;
const fewestPods = 20;
/** The hash by which a static Pod is known; all other Pods have a UUID. */
const staticIdentity = /^[0-9a-f]{32}$/;

export class Endings {
  readonly #options: EndingsOptions;
  readonly #vanished: Vanished;
  readonly #garbage: Garbage;
  readonly #retention: Retention;
  /** Uids that the API deleted while they held something, by Pod. */
  readonly #deleted = new Map<string, Set<string>>();
  /** By Pod: until then (of performance.now()) it is not taken to be gone, though it is not in the API. */
  readonly #notGoneBefore = new Map<string, number>();
  #judgedAt = -Infinity;

  constructor(options: EndingsOptions) {
    this.#options = options;
    this.#garbage = new Garbage(options);
    this.#retention = new Retention(options);
    const { acceptVanished: accept, vanishedBefore: before = 0 } = options;
    this.#vanished = new Vanished({ fewest: fewestPods, accept, before });
  }

  /** How many Pods vanished, while that halts all releases; else 0. */
  get vanished(): number {
    return this.#vanished.most;
  }

  /** A Pod is in the API no more, by a watch (`witnessed`) or a list. Gives when to look at its name: in how many milliseconds. */
  gone(pod: Pod, witnessed: boolean): number {
    const { mirrorGraceMs = usualMirrorGraceMs, vanishedGraceMs = usualVanishedGraceMs, pods } = this.#options;
    const key = ledgerKeyOf(pod);
    // It may have been adopted, or orphaned, since it was given its addresses.
    this.#options.holdings.leaves(key, pod.identity, ownerOf(pod));
    // A static Pod runs on when its mirror is deleted, and its kubelet makes a new one.
    if (isMirror(pod)) return this.#wait(key, mirrorGraceMs);
    if (!witnessed || pods.has(key)) return 0;
    // Whatever the API deletes, it marks as being deleted first: this one was taken from under it.
    if (pod.deletionTimestamp === '') return this.#wait(key, vanishedGraceMs);
    this.#note(key, pod.identity);
    return 0;
  }

  /** Where most are missing after a time without a watcher, asks what happened in it. To be done before the first judgement. */
  async prepare(): Promise<void> {
    const { recall, holdings, acceptVanished, vanishedBefore = 0, log, signal } = this.#options;
    const missing = new Set(this.#missing());
    const before = { fewest: fewestPods, accept: acceptVanished, before: vanishedBefore };
    if (!new Vanished(before).judge(missing.size, holdings.count)) return;
    for (const key of missing) if (await this.#isStopped(key)) missing.delete(key);
    if (!recall) return;
    log.info({ missing: missing.size }, 'intent: most Pods are missing, asking the API what it deleted meanwhile');
    try {
      for await (const pod of recall(signal)) {
        const key = ledgerKeyOf(pod);
        if (pod.deletionTimestamp !== '' && !isMirror(pod)) this.#note(key, pod.identity);
        if (this.#deleted.has(key) && missing.delete(key) && missing.size === 0) return;
      }
    } catch (error) {
      if (!signal.aborted) log.info({ err: error }, 'intent: the API does not remember all of it');
    }
  }

  /** Looks whether too many are missing to be true. */
  judge(): void {
    const { holdings, alarm } = this.#options;
    const missing = this.#missing();
    const halted = this.#vanished.most > 0;
    this.#judgedAt = performance.now();
    if (this.#vanished.judge(missing.length, holdings.count))
      alarm(
        `${missing.length} of ${holdings.count} Pods that hold addresses are missing from the Kubernetes API all at once (${missing.slice(0, 3).join(', ')}, …); nothing is released. ` +
          'If the API server lost its data, bring it back; if the Pods are really gone, restart this watcher once with --accept-vanished',
      );
    else if (halted) alarm(undefined);
  }

  /**
   * Why this uid needs its addresses no more; 'living' when it does, 'kept' when its owner will have them again, 'unsure' when
   * that is to be seen.
   * @param heir whether a Pod of the same name has been asked for already what it takes over: the rest goes.
   */
  async of(key: string, uid: string, heir: boolean): Promise<Ending | 'living' | 'kept' | 'unsure'> {
    // Whether its launcher lives is not known yet.
    if (this.#options.pods.isClaimed(key, uid)) return 'unsure';
    const pods = this.#options.pods.all(key);
    const pod = pods.find(({ identity }) => identity === uid) ?? pods[0];
    if (pod) this.#garbage.clear(key);
    const ending =
      pod?.identity === uid ? this.#endingOf(pod) : pod ? replacedBy(pod) : await this.#endingOfMissing(key, uid);
    if (ending === 'living' || ending === 'unsure') return ending;
    if (this.#isHalted()) return 'unsure';
    return heir ? ending : this.#unlessKept(key, uid, ending);
  }

  /** What is not held any more under the name is not asked about again. */
  forget(key: string): void {
    const held = this.#options.holdings.uids(key);
    const left = held.filter((uid) => this.#deleted.get(key)?.has(uid));
    if (left.length === 0) this.#deleted.delete(key);
    else this.#deleted.set(key, new Set(left));
    if (held.length > 0) return;
    this.#notGoneBefore.delete(key);
    this.#garbage.clear(key);
    this.#retention.forget(key);
  }

  #endingOf(pod: Pod): Ending | 'living' {
    const { state } = this.#options.lives.of(pod);
    if (state === 'completed') return { cause: 'RELEASE_CAUSE_POD_COMPLETED', evidence: `phase ${pod.phase}` };
    if (state !== 'overdue') return 'living';
    const { deletionTimestamp, graceSeconds } = pod;
    if (graceSeconds === 0) return deleted(`its last deletion was at ${deletionTimestamp}, without a grace period`);
    return deleted(`terminating since ${deletionTimestamp}, and overdue by a whole grace period`);
  }

  async #endingOfMissing(key: string, uid: string): Promise<Ending | 'unsure'> {
    const { mirrorGraceMs = usualMirrorGraceMs } = this.#options;
    if (this.#deleted.get(key)?.has(uid)) return deleted('');
    // What nobody saw go: it may be the mirror of a static Pod that was deleted while nobody watched.
    if (staticIdentity.test(uid) && !this.#notGoneBefore.has(key)) this.#wait(key, mirrorGraceMs);
    if (this.#isHalted() || performance.now() < (this.#notGoneBefore.get(key) ?? 0)) return 'unsure';
    return this.#garbage.confirm(key, uid);
  }

  async #unlessKept(key: string, uid: string, ending: Ending): Promise<Ending | 'kept'> {
    const why = await this.#retention.whyNot(key, this.#ownerOf(key, uid));
    if (why === undefined) return ending;
    if (why === 'kept') return why;
    const unseen = ending.cause === 'RELEASE_CAUSE_GARBAGE_COLLECTED' && why.cause === 'RELEASE_CAUSE_OWNER_DELETED';
    const evidence = ending.evidence === '' ? why.evidence : `${why.evidence}; ${ending.evidence}`;
    return { cause: unseen ? ending.cause : why.cause, evidence };
  }

  /** Who controls a Pod, also one that is gone. */
  #ownerOf(key: string, uid: string): Owner | undefined {
    const { pods, holdings } = this.#options;
    const pod = pods.all(key).find(({ identity }) => identity === uid);
    return pod ? ownerOf(pod) : holdings.owner(key, uid);
  }

  #isAwaited(key: string): boolean {
    return this.#options.holdings
      .uids(key)
      .some((uid) => this.#retention.isAwaited(key, this.#options.holdings.owner(key, uid)));
  }

  /** Of virtual machines only asking tells. */
  async #isStopped(key: string): Promise<boolean> {
    const { holdings } = this.#options;
    for (const uid of holdings.uids(key)) {
      const owner = holdings.owner(key, uid);
      if (owner?.kind === machineKind && (await this.#retention.whyNot(key, owner)) === 'kept') return true;
    }
    return false;
  }

  #isHalted(): boolean {
    if (performance.now() - this.#judgedAt > judgeEveryMs) this.judge();
    return this.#vanished.most > 0;
  }

  #missing(): string[] {
    const { pods, holdings } = this.#options;
    const wasDeleted = (key: string, uid: string): boolean => this.#deleted.get(key)?.has(uid) ?? false;
    return [...holdings.pods()].filter(
      (key) =>
        !pods.has(key) &&
        holdings.uids(key).some((uid) => !wasDeleted(key, uid) && !pods.isClaimed(key, uid)) &&
        !this.#isAwaited(key),
    );
  }

  #wait(key: string, ms: number): number {
    this.#notGoneBefore.set(key, performance.now() + ms);
    return ms;
  }

  #note(key: string, uid: string): void {
    if (!this.#options.holdings.uids(key).includes(uid)) return;
    const seen = this.#deleted.get(key);
    if (seen) seen.add(uid);
    else this.#deleted.set(key, new Set([uid]));
  }
}

const isMirror = ({ identity, uid, name, ledgerName }: Pod): boolean => identity !== uid && ledgerName === name;

const replacedBy = ({ identity }: Pod): Ending => deleted(`the name belongs to Pod uid ${identity} now`);

const deleted = (evidence: string): Ending => ({ cause: 'RELEASE_CAUSE_POD_DELETED', evidence });
