/**
 * Decides why a uid no longer needs its addresses. A Pod is deleted when the API reports it: by a
 * watch event, by a look-up that does not find it, or by another Pod under its name. While so many
 * Pods of its namespace or of the cluster are missing that the API server may have lost data
 * (missing-pods.ts), no Pod of the affected namespaces counts as deleted.
 *
 * retention.ts decides what is retained for a Pod's owner after the Pod has ended.
 */
import { addTo } from '../../../../lib/maps.ts';
import { createSemaphore } from '../../../../lib/process/semaphore.ts';
import type { Logger } from '../../../../lib/process/log.ts';
import { isStaticIdentity, virtualMachineKind } from '../../../../lib/kubernetes/pod-identity.ts';
import type { Owner } from '../../../../proto/generated/ipledger.ts';
import { type LedgerPods, ledgerKeyOf } from '../../kubernetes/ledger-pods.ts';
import { isMirror, type Pod } from '../../kubernetes/objects/pod.ts';
import { namespaceOf } from '../../namespaced-map.ts';
import type { AllocationCache } from './allocation-cache.ts';
import { GarbageCollector, type GarbageCollectorOptions } from './garbage-collector.ts';
import type { LifecycleTracker } from './lifecycle-tracker.ts';
import { MissingPods, type MissingPodsOptions } from './missing-pods.ts';
import { isSameOwner, ownerOf, podDeleted, type ReleaseReason } from './pod-owner.ts';
import { allObjects } from '../mass-deletion-guard.ts';
import { Retention, type RetentionOptions } from './retention.ts';
import { isContainerBound, type StaticPodOptions } from './static-pods.ts';

export interface PodTerminationOptions
  extends
    GarbageCollectorOptions,
    RetentionOptions,
    StaticPodOptions,
    Pick<MissingPodsOptions, 'haltedBefore' | 'alarm' | 'leaseNamespace'> {
  readonly pods: LedgerPods;
  readonly allocations: AllocationCache;
  readonly lifecycles: LifecycleTracker;
  /** Lists the Pods that were deleted before the last list, from the API server's history. */
  readonly listDeleted?: (signal: AbortSignal) => AsyncIterable<Pod>;
  /** The time to wait for a static Pod's next mirror, from the end of the last mirror. */
  readonly mirrorGraceMs?: number;
  /** The time to wait after a Pod disappeared without a deletion: others may follow. */
  readonly missingGraceMs?: number;
  readonly log: Logger;
}

/** Exceeds the minute between a kubelet's checks of the mirrors of its static Pods. */
const defaultMirrorGraceMs = 120_000;
const defaultMissingGraceMs = 10_000;
const concurrentLookUps = 16;

/** The end of what a uid needs. */
interface EndOfUid {
  readonly reason: ReleaseReason;
  /** Whether an owner retains it, and the next Pod of that owner has been served. */
  readonly isRetained: boolean;
}

export class PodTermination {
  readonly #options: PodTerminationOptions;
  readonly #missing: MissingPods;
  readonly #garbageCollector: GarbageCollector;
  readonly #retention: Retention;
  /** The uids that the API deleted while they held allocations, by Pod name. */
  readonly #deleted = new Map<string, Set<string>>();
  /** The performance.now() until which a name counts as present without an object. */
  readonly #presentUntil = new Map<string, number>();
  /** The reason why an operator accepted a mass deletion, by its scope. */
  readonly #acceptedReasons = new Map<string, string>();

  constructor(options: PodTerminationOptions) {
    this.#options = options;
    this.#garbageCollector = new GarbageCollector(options);
    this.#retention = new Retention(options);
    this.#missing = new MissingPods({
      ...options,
      isUnexplained: (key) => this.#isUnexplained(key),
      explain: (missing) => this.#explain(missing),
    });
  }

  /** The number of missing Pods, by halted scope of the mass-deletion guard. */
  get halted(): Readonly<Record<string, number>> {
    return this.#missing.halted;
  }

  /** The scopes with an accepted mass deletion that have not recovered yet. */
  get accepted(): readonly string[] {
    return this.#missing.accepted;
  }

  /**
   * Records that the API no longer has a Pod, by a watch event (`witnessed`) or by a list.
   * @returns the milliseconds until the name must be reconciled
   */
  onPodDeleted(pod: Pod, witnessed: boolean): number {
    const { mirrorGraceMs = defaultMirrorGraceMs, missingGraceMs = defaultMissingGraceMs, pods } = this.#options;
    const key = ledgerKeyOf(pod);
    // Records the owner, which may have changed since the Pod got its addresses.
    this.#options.allocations.recordLastOwner(key, pod.ledgerUid, ownerOf(pod));
    const isMarked = pod.deletionTimestamp !== '';
    const isGone = witnessed && !pods.has(key);
    if (isGone && isMarked) this.#recordDeleted(key, pod.ledgerUid);
    // Waits for the next mirror: a static Pod continues to run when its mirror is deleted.
    if (isMirror(pod)) return this.#postpone(key, mirrorGraceMs);
    // Waits if the Pod disappeared without a mark: the API marks a Pod before it deletes it, so the
    // API server may have lost data.
    return isGone && !isMarked ? this.#postpone(key, missingGraceMs) : 0;
  }

  /**
   * Records the unbind of a container, after which a static Pod may start another container.
   * @returns the milliseconds until the name must be reconciled; undefined if no mirror is missing
   */
  onUnbound(key: string): number | undefined {
    const { allocations, pods, mirrorGraceMs = defaultMirrorGraceMs } = this.#options;
    const isAwaited = !pods.has(key) && allocations.uids(key).some(isStaticIdentity);
    return isAwaited ? this.#postpone(key, mirrorGraceMs) : undefined;
  }

  /** Reads the API server's deletions if most Pods are missing. Must resolve before work begins. */
  prepare(): Promise<void> {
    return this.#missing.prepare();
  }

  /**
   * Marks a name after a change of its Pod, allocations or StatefulSet, and after each
   * reconciliation.
   */
  onChanged(key: string): void {
    this.#missing.onChanged(key);
  }

  /** Marks all names of the ledger. Called at the start, and after a snapshot. */
  scan(): void {
    this.#missing.scan();
  }

  /**
   * Halts or resumes releases, depending on how many Pods are missing. Returns the names that hold
   * allocations and have no Pod.
   */
  checkMassDeletion(): ReadonlySet<string> {
    this.#missing.check();
    return this.#missing.absent;
  }

  /**
   * Accepts that up to these numbers of missing Pods were deleted, by scope of the mass-deletion
   * guard.
   */
  acceptMassDeletion(accepted: Readonly<Record<string, number>>, reason: string): void {
    for (const scope of Object.keys(accepted)) this.#acceptedReasons.set(scope, reason);
    this.#missing.accept(accepted);
  }

  /** The machines that are stopped; see Retention. */
  get stoppedMachines(): Iterable<string> {
    return this.#retention.stoppedMachines;
  }

  /** Whether the API server may show Pods of this namespace in an old state. */
  mayBeOld(namespace: string): boolean {
    return this.#missing.isHalted(namespace) || this.#missing.isClusterHalted;
  }

  /**
   * Returns why this uid no longer needs its addresses. 'alive' if it needs them, 'retained' if its
   * owner will create the Pod again, 'unknown' while that is not decided.
   * @param successor the Pod of the name that was already served, if its service decides. What the
   * next Pod of the same owner has not taken over ends, although the owner retains it. A Pod of
   * another owner decides nothing for this one: it may have the name of a machine, or of a member
   * of a StatefulSet
   */
  async releaseReasonOf(
    key: string,
    uid: string,
    successor: Pod | undefined,
  ): Promise<EndOfUid | 'alive' | 'retained' | 'unknown'> {
    if (this.#options.pods.hasUnverifiedLauncher(key, uid)) return 'unknown';
    const pods = this.#options.pods.all(key);
    const pod = pods.find(({ ledgerUid }) => ledgerUid === uid) ?? pods[0];
    if (pod) this.#garbageCollector.clear(key);
    if (pod?.ledgerUid === uid) this.#deleted.get(key)?.delete(uid);
    const reason =
      pod?.ledgerUid === uid
        ? await this.#reasonOfPresent(pod)
        : pod
          ? await this.#reasonOfReplaced(key, uid, pod)
          : await this.#reasonOfMissing(key, uid);
    if (reason === 'alive' || reason === 'unknown') return reason;
    if (this.#missing.isHalted(namespaceOf(key))) return 'unknown';
    // The Pod of the name may be outdated, if the API server was restored.
    if (pod && pod.ledgerUid !== uid && !this.#wasDeleted(key, uid) && this.#missing.isClusterHalted) return 'unknown';
    const ended = await this.#unlessRetained(key, uid, reason);
    if (ended !== 'retained') return { reason: ended, isRetained: false };
    const isReplaced = successor && isSameOwner(ownerOf(successor), this.#ownerOf(key, uid));
    return isReplaced ? { reason, isRetained: true } : ended;
  }

  /** Drops the evidence about uids that no longer hold anything. */
  forget(key: string): void {
    const holding = this.#options.allocations.uids(key);
    const deleted = holding.filter((uid) => this.#deleted.get(key)?.has(uid));
    if (deleted.length === 0) this.#deleted.delete(key);
    else this.#deleted.set(key, new Set(deleted));
    if (holding.length > 0) return;
    this.#presentUntil.delete(key);
    this.#garbageCollector.clear(key);
    this.#retention.forget(key);
  }

  async #reasonOfPresent(pod: Pod): Promise<ReleaseReason | 'alive' | 'unknown'> {
    const { state } = this.#options.lifecycles.lifecycleOf(pod);
    if (state === 'completed') return { cause: 'RELEASE_CAUSE_POD_COMPLETED', evidence: `phase ${pod.phase}` };
    if (state !== 'overdue') return 'alive';
    if (await this.#isBoundStatic(ledgerKeyOf(pod), pod.ledgerUid)) return 'unknown';
    const { deletionTimestamp, graceSeconds } = pod;
    if (graceSeconds === 0) return podDeleted(`its last deletion was at ${deletionTimestamp}, without a grace period`);
    return podDeleted(`terminating since ${deletionTimestamp}, and overdue by a second grace period`);
  }

  async #reasonOfMissing(key: string, uid: string): Promise<ReleaseReason | 'unknown'> {
    const { mirrorGraceMs = defaultMirrorGraceMs } = this.#options;
    const isDeleted = this.#wasDeleted(key, uid);
    const isStatic = isStaticIdentity(uid);
    if (isDeleted && !isStatic) return podDeleted('');
    // Waits for the next mirror: a mirror may have been deleted while no watcher ran.
    if (isStatic && !isDeleted && !this.#presentUntil.has(key)) this.#postpone(key, mirrorGraceMs);
    if (this.#missing.isHalted(namespaceOf(key)) || performance.now() < (this.#presentUntil.get(key) ?? 0))
      return 'unknown';
    if (await this.#isBoundStatic(key, uid)) {
      this.#postpone(key, mirrorGraceMs);
      return 'unknown';
    }
    if (isDeleted) return podDeleted('its mirror was deleted, and no container of the static Pod is bound');
    return this.#withAcceptance(key, await this.#garbageCollector.confirm(key, uid));
  }

  /** Adds the reason why an operator accepted the deletion of missing Pods. */
  #withAcceptance(key: string, reason: ReleaseReason | 'unknown'): ReleaseReason | 'unknown' {
    const { accepted } = this.#missing;
    const scope = [namespaceOf(key), allObjects].find((each) => accepted.includes(each));
    if (reason === 'unknown' || scope === undefined) return reason;
    const why = this.#acceptedReasons.get(scope);
    return { ...reason, evidence: `${reason.evidence}; an operator accepted the mass deletion: ${why}` };
  }

  /**
   * Returns why a replaced uid needs no addresses. The next mirror of a static Pod takes over what
   * the static Pod holds; another Pod of its name does not end it. The watch may lag behind the
   * ledger and show an earlier Pod. So the API decides which Pod of the name exists: an ended Pod
   * gets no address again.
   */
  async #reasonOfReplaced(key: string, uid: string, pod: Pod): Promise<ReleaseReason | 'unknown'> {
    if (!isMirror(pod) && (await this.#isBoundStatic(key, uid))) return 'unknown';
    const { lookUpPod, signal } = this.#options;
    if ((await lookUpPod(key, signal))?.ledgerUid === uid) return 'unknown';
    return podDeleted(`the name belongs to Pod uid ${pod.ledgerUid} now`);
  }

  /** Whether a static Pod of this identity runs, which a bound container shows. */
  async #isBoundStatic(key: string, uid: string): Promise<boolean> {
    return isStaticIdentity(uid) && isContainerBound(this.#options.allocations.allocationsOf(key, uid), this.#options);
  }

  async #unlessRetained(key: string, uid: string, reason: ReleaseReason): Promise<ReleaseReason | 'retained'> {
    const refused = this.#options.pods.refusedLaunchers(key, uid);
    const ownerReason = await this.#retention.releaseReasonOf(key, this.#ownerOf(key, uid), refused);
    if (ownerReason === undefined) return reason;
    if (ownerReason === 'retained') return ownerReason;
    const isCollected =
      reason.cause === 'RELEASE_CAUSE_GARBAGE_COLLECTED' && ownerReason.cause === 'RELEASE_CAUSE_OWNER_DELETED';
    const evidence = reason.evidence === '' ? ownerReason.evidence : `${ownerReason.evidence}; ${reason.evidence}`;
    return { cause: isCollected ? reason.cause : ownerReason.cause, evidence };
  }

  /** Returns the owner of a Pod, also of a deleted Pod. */
  #ownerOf(key: string, uid: string): Owner | undefined {
    const { pods, allocations } = this.#options;
    const pod = pods.all(key).find(({ ledgerUid }) => ledgerUid === uid);
    return pod ? ownerOf(pod) : allocations.lastOwner(key, uid);
  }

  #isExpectedBack(key: string): boolean {
    return this.#options.allocations
      .uids(key)
      .some((uid) => this.#retention.isExpectedBack(key, this.#options.allocations.lastOwner(key, uid)));
  }

  /** Looks up whether the Pod belongs to a stopped virtual machine. */
  async #isStopped(key: string): Promise<boolean> {
    const { allocations } = this.#options;
    for (const uid of allocations.uids(key)) {
      const owner = allocations.lastOwner(key, uid);
      if (owner?.kind === virtualMachineKind && (await this.#retention.releaseReasonOf(key, owner)) === 'retained')
        return true;
    }
    return false;
  }

  /** Whether a name has no Pod, and no deletion, owner or unverified launcher explains that. */
  #isUnexplained(key: string): boolean {
    const { pods, allocations } = this.#options;
    const isExplained = (uid: string): boolean => this.#wasDeleted(key, uid) || pods.hasUnverifiedLauncher(key, uid);
    return !allocations.uids(key).every(isExplained) && !this.#isExpectedBack(key);
  }

  /** Records which missing Pods were deleted, and which machines are stopped. */
  async #explain(names: ReadonlySet<string>): Promise<void> {
    const { listDeleted, log, signal } = this.#options;
    const missing = new Set(names);
    for (const key of await this.#findStopped(names)) {
      missing.delete(key);
      this.#missing.onChanged(key);
    }
    try {
      if (!listDeleted || missing.size === 0) return;
      log.info({ missing: missing.size }, 'pods: most Pods are missing, listing the deletions since they were seen');
      for await (const pod of listDeleted(signal)) {
        const key = ledgerKeyOf(pod);
        if (pod.deletionTimestamp !== '' && !this.#options.pods.has(key)) this.#recordDeleted(key, pod.ledgerUid);
        if (this.#deleted.has(key) && missing.delete(key) && missing.size === 0) return;
      }
    } catch (error) {
      if (!signal.aborted) log.info({ err: error }, 'pods: the API server has no full history of the deletions');
    }
  }

  /** Finds stopped machines. A failed look-up prevents no other explanation. */
  async #findStopped(names: ReadonlySet<string>): Promise<string[]> {
    const { log, signal } = this.#options;
    const semaphore = createSemaphore(concurrentLookUps, names.size);
    const lookUp = async (key: string): Promise<string[]> => {
      try {
        return (await semaphore(signal, () => this.#isStopped(key))) ? [key] : [];
      } catch (error) {
        if (!signal.aborted) log.info({ err: error, pod: key }, 'pods: looking up the machine of a missing Pod failed');
        return [];
      }
    };
    return (await Promise.all([...names].map(lookUp))).flat();
  }

  #wasDeleted(key: string, uid: string): boolean {
    return this.#deleted.get(key)?.has(uid) === true;
  }

  #postpone(key: string, ms: number): number {
    this.#presentUntil.set(key, performance.now() + ms);
    return ms;
  }

  #recordDeleted(key: string, uid: string): void {
    if (!this.#options.allocations.uids(key).includes(uid)) return;
    addTo(this.#deleted, key, uid);
    this.#missing.onChanged(key);
  }
}
