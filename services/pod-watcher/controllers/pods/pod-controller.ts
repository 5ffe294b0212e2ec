/**
 * The Pod controller: allocates addresses for Pods that need them, and releases what ended Pods
 * hold. It issues one command at a time for each Pod name.
 *
 * Level-triggered: each reconciliation reads the Pod's current state and the allocations of its
 * name, and does not depend on the events in between. pod-termination.ts has the evidence that a
 * Pod has ended, waiters.ts the Pods that wait.
 */
import { type Informer, keyOf, type ObjectChange } from '../../../../lib/kubernetes/client/informer.ts';
import { TurnBudget } from '../../../../lib/process/turn-budget.ts';
import { isLauncher } from '../../kubernetes/launcher-verifier.ts';
import { type LedgerPods, ledgerKeyOf } from '../../kubernetes/ledger-pods.ts';
import type { NetworkDefinition } from '../../kubernetes/objects/network-definition.ts';
import { hasAllocatedAnnotation, type Pod } from '../../kubernetes/objects/pod.ts';
import type { MachineObject } from '../../kubernetes/objects/virtual-machine.ts';
import type { StatefulSet } from '../../kubernetes/objects/stateful-set.ts';
import { podKeyOf, type LedgerEvent } from '../../ledger/ledger-events.ts';
import type { LedgerSubscriber } from '../../ledger/ledger-subscriber.ts';
import { type Outcome, WorkQueue } from '../../work-queue/work-queue.ts';
import { allObjects } from '../mass-deletion-guard.ts';
import { NetworkDefinitionCache } from '../network-definitions/classify-network.ts';
import type { SubnetCache } from '../subnets/subnet-cache.ts';
import { LifecycleTracker, type TerminatingPods } from './lifecycle-tracker.ts';
import type { ClusterView } from '../cluster-view.ts';
import { PodAllocator, type PodAllocatorOptions, type ServeResult } from './pod-allocator.ts';
import { PodReleaser, type TransferTarget } from './pod-releaser.ts';
import { PodTermination, type PodTerminationOptions } from './pod-termination.ts';
import { Waiters } from './wait-queue/waiters.ts';

export interface PodControllerOptions
  extends
    Omit<PodTerminationOptions, 'pods' | 'statefulSets' | 'lifecycles'>,
    Pick<
      PodAllocatorOptions,
      | 'allocator'
      | 'allocations'
      | 'budget'
      | 'endWaitReason'
      | 'recordEvent'
      | 'removeAnnotations'
      | 'ipamClaims'
      | 'traces'
    > {
  readonly pods: Pick<Informer<Pod>, 'subscribe'>;
  /** The index of `pods`. Must be created before this controller, which relies on its updates. */
  readonly ledgerPods: LedgerPods;
  readonly statefulSets: Pick<Informer<StatefulSet>, 'objects' | 'subscribe'>;
  /** The informers of VirtualMachines and VirtualMachineInstances. */
  readonly machines: readonly Pick<Informer<MachineObject>, 'objects' | 'subscribe'>[];
  readonly networks: Pick<Informer<NetworkDefinition>, 'subscribe'>;
  readonly subnets: SubnetCache;
  readonly clusterView: Pick<ClusterView, 'pools' | 'vip' | 'ipamClaim' | 'namespaceOf' | 'hasOtherPod'>;
  /** The retry backoff of a refused Pod, which an event can end. */
  readonly backoffMs?: readonly [first: number, max: number];
  /** The terminating Pods that an earlier watcher saw. */
  readonly terminatingBefore?: TerminatingPods;
  /** The interval between checks of all names that hold allocations; 0 disables them. */
  readonly garbageIntervalMs?: number;
}

const concurrency = 64;
const defaultBackoffMs = [500, 30_000] as const;
const defaultGarbageIntervalMs = 360_000;

export class PodController implements LedgerSubscriber {
  readonly #options: PodControllerOptions;
  readonly #pods: LedgerPods;
  readonly #queue: WorkQueue;
  readonly #waiters: Waiters;
  readonly #lifecycles: LifecycleTracker;
  readonly #termination: PodTermination;
  readonly #releaser: PodReleaser;
  readonly #allocation: PodAllocator;
  #started = false;

  constructor(options: PodControllerOptions) {
    this.#options = options;
    const { subnets, allocations, log, signal, backoffMs = defaultBackoffMs } = options;
    this.#pods = options.ledgerPods;
    this.#lifecycles = new LifecycleTracker(options.terminatingBefore);
    this.#waiters = new Waiters({ subnets, signal, wake: (key) => this.#queue.add(key) });
    this.#termination = new PodTermination({ ...options, pods: this.#pods, lifecycles: this.#lifecycles });
    this.#releaser = new PodReleaser({ ...options, termination: this.#termination });
    const [firstBackoffMs, maxBackoffMs] = backoffMs;
    const work = (key: string) => this.#reconcile(key);
    // Prefers Pods that exist: a container start waits for addresses, and not for a release.
    const canWait = (key: string): boolean => !this.#pods.has(key);
    this.#queue = new WorkQueue({ concurrency, firstBackoffMs, maxBackoffMs, work, canWait, log, signal });
    this.#allocation = new PodAllocator({
      ...options,
      clusterView: this.#clusterViewOf(options),
      queue: this.#queue,
      waiters: this.#waiters,
      releaser: this.#releaser,
      findNameConflict: (key, pod) => this.#findNameConflict(key, pod),
    });
    allocations.onAllocationEnded((ended, { conflict }) => {
      const { subnet, mac, addresses } = ended;
      const released = addresses.map(({ address }) => address);
      this.#waiters.onMacReleased(subnet, mac, released);
      if (conflict) this.#allocation.onConflict(ended);
    });
    options.pods.subscribe((change) => this.#onPod(change));
    options.statefulSets.subscribe((change) => this.#onStatefulSet(change));
    for (const machines of options.machines) machines.subscribe((change) => this.#onMachine(change));
  }

  #clusterViewOf({ clusterView, subnets, networks, statefulSets }: PodControllerOptions): ClusterView {
    return {
      ...clusterView,
      subnets,
      network: new NetworkDefinitionCache(networks, (key) => this.wakeWaiters(`network:${key}`)).get,
      ordinalStart: (owner, namespace) => {
        const set = statefulSets.objects.get(keyOf({ namespace, name: owner.name }));
        return set?.uid === owner.uid ? set.firstOrdinal : undefined;
      },
    };
  }

  /** The number of missing Pods, by halted scope of the mass-deletion guard. */
  get halted(): Readonly<Record<string, number>> {
    return this.#termination.halted;
  }

  /** The number of missing Pods while the mass-deletion guard halts releases; otherwise 0. */
  get missingPods(): number {
    const { [allObjects]: all, ...namespaces } = this.halted;
    return all ?? Object.values(namespaces).reduce((sum, missing) => sum + missing, 0);
  }

  /** The scopes with an accepted mass deletion that have not recovered yet. */
  get accepted(): readonly string[] {
    return this.#termination.accepted;
  }

  /** Accepts that up to these numbers of missing Pods were deleted, by scope. */
  acceptMassDeletion(accepted: Readonly<Record<string, number>>, reason: string): void {
    this.#termination.acceptMassDeletion(accepted, reason);
    this.#enqueueAbsent();
  }

  /** The terminating Pods, for the next watcher. */
  get terminatingPods(): TerminatingPods {
    return this.#lifecycles.terminating();
  }

  /** The number of Pods that wait for addresses. */
  get waitingPods(): number {
    return this.#waiters.size;
  }

  /** Must resolve before start(), after the informers and the ledger's snapshot are loaded. */
  prepare(): Promise<void> {
    return this.#termination.prepare();
  }

  /** Starts. The informers and the ledger's snapshot must be loaded. */
  start(): void {
    this.#started = true;
    this.#enqueueAll();
    this.#queue.start();
    this.#waiters.start();
    const { garbageIntervalMs = defaultGarbageIntervalMs, signal } = this.#options;
    if (garbageIntervalMs <= 0 || signal.aborted) return;
    const scan = setInterval(() => void this.#collectGarbage(), garbageIntervalMs).unref();
    signal.addEventListener('abort', () => clearInterval(scan), { once: true });
  }

  /** Retries all Pods that wait for a topic of their plan, or were not served because of it. */
  wakeWaiters(topic: string): void {
    this.#waiters.wake(topic);
    this.#allocation.wakeUnserved(topic);
  }

  /** Retries a namespace's Pods after a change of its Subnets or IPPools. */
  enqueueNamespace(namespace: string): void {
    if (!this.#started) return;
    for (const key of this.#pods.ofNamespace(namespace)) this.#queue.add(key);
  }

  /** Retries all Pods: allocations may be missing from a ledger that was rewound. */
  onSnapshot(): void {
    if (this.#started) this.#enqueueAll();
  }

  onEvents(events: readonly LedgerEvent[]): void {
    for (const event of events) {
      this.#allocation.onEvent(event);
      if (event.kind === 'unbound') this.#onUnbound(event);
      else this.#waiters.onEvent(event);
      if (event.kind === 'released') this.#onChanged(podKeyOf(event));
      else if (event.kind === 'allocated') this.#onChanged(podKeyOf(event.allocation));
    }
  }

  #onChanged(key: string): void {
    this.#termination.onChanged(key);
    this.#queue.add(key);
  }

  /**
   * Wakes the Pod if it waits to release a bound address, and other Pods if the Pod no longer holds
   * the address.
   */
  #onUnbound(event: Extract<LedgerEvent, { kind: 'unbound' }>): void {
    const { subnet, addresses } = event;
    const key = podKeyOf(event);
    if (this.#releaser.stillBound.has(key)) this.#queue.add(key);
    const waitMs = this.#termination.onUnbound(key);
    if (waitMs !== undefined) this.#queue.addAfter(key, waitMs);
    if (!this.#options.allocations.holdsAny(key, subnet, addresses)) this.#waiters.onEvent(event);
  }

  #onPod(change: ObjectChange<Pod>): void {
    if (change.kind === 'listed') {
      if (this.#started) this.#enqueueAbsent();
      return;
    }
    const key = ledgerKeyOf(change.object);
    this.#termination.onChanged(key);
    // Considers that a changed Pod may be the launcher of a machine that has no other Pod.
    for (const pod of [change.object, change.kind === 'present' ? change.before : undefined])
      if (pod?.assertedMachine) this.#termination.onChanged(keyOf({ ...pod, name: pod.assertedMachine.name }));
    if (change.kind === 'present') {
      // Also reconciles the earlier name, which a launcher has until its machine is observed.
      if (change.before && ledgerKeyOf(change.before) !== key) this.#queue.add(ledgerKeyOf(change.before));
      return this.#queue.add(key);
    }
    this.#allocation.onPodDeleted(key);
    this.#lifecycles.forget(change.object);
    const waitMs = this.#termination.onPodDeleted(change.object, change.witnessed);
    if (waitMs > 0) this.#queue.addAfter(key, waitMs);
    // Judges a deletion that a list implies together with all others, at the end of the list.
    else if (change.witnessed) this.#queue.add(key);
  }

  /** Reconciles deleted members: a StatefulSet's replicas and ordinals decide about them. */
  #onStatefulSet(change: ObjectChange<StatefulSet>): void {
    if (change.kind === 'listed') return;
    const { object } = change;
    const before = change.kind === 'present' ? change.before : undefined;
    const relevantFields = ({ uid, replicas, firstOrdinal, deleting }: StatefulSet): string =>
      [uid, replicas, firstOrdinal, deleting].join();
    if (before && relevantFields(before) === relevantFields(object)) return;
    this.wakeWaiters(`set:${keyOf(object)}`);
    for (const key of this.#options.allocations.membersOf(keyOf(object))) this.#onChanged(key);
  }

  /** Reconciles a deleted machine: no Pod ends if the machine does not run. */
  #onMachine(change: ObjectChange<MachineObject>): void {
    if (change.kind === 'listed') {
      const exists = (key: string): boolean => this.#options.machines.some(({ objects }) => objects.has(key));
      for (const key of this.#termination.stoppedMachines) if (!exists(key)) this.#queue.add(key);
    } else if (change.kind === 'gone' || change.object.deleting) {
      const key = keyOf(change.object);
      if (this.#options.allocations.uids(key).length > 0) this.#queue.add(key);
    }
  }

  #enqueueAll(): void {
    this.#termination.scan();
    for (const key of this.#options.allocations.podKeys()) this.#queue.add(key);
    for (const key of this.#pods.keys()) this.#queue.add(key);
  }

  /** Reconciles, in slices, the names for which an event was lost. */
  async #collectGarbage(): Promise<void> {
    const { allocations, signal } = this.#options;
    const turn = new TurnBudget();
    for (const key of allocations.podKeys()) {
      if (!this.#pods.has(key)) this.#termination.onChanged(key);
      if (turn.isSpent) await turn.nextTurn();
      if (signal.aborted) return;
    }
    this.#enqueueAbsent();
  }

  /**
   * Reconciles all names that hold allocations and have no Pod. The mass-deletion guard may halt or
   * resume their releases.
   */
  #enqueueAbsent(): void {
    for (const key of this.#termination.checkMassDeletion()) this.#queue.add(key);
  }

  async #reconcile(key: string): Promise<Outcome> {
    try {
      return await this.#reconcileName(key);
    } finally {
      this.#termination.onChanged(key);
      this.#waiters.onAttemptEnded(key);
    }
  }

  /** Serves a name's living Pod, and then releases: addresses may transfer to the Pod. */
  async #reconcileName(key: string): Promise<Outcome> {
    const pod = this.#pods.get(key);
    const lifecycle = pod && this.#lifecycles.lifecycleOf(pod);
    if (!pod || lifecycle?.state !== 'alive') {
      this.#allocation.forget(key);
      this.#releaser.stillBound.delete(key);
      const usesHostNetwork = lifecycle?.state === 'host';
      const target = pod && usesHostNetwork ? { pod, canReceive: () => false } : undefined;
      return this.#releaser.releaseEnded(key, target);
    }
    if (lifecycle.endsInMs !== undefined) this.#queue.addAfter(key, lifecycle.endsInMs);
    const { target, outcome } = await this.#serve(key, pod);
    const released = await this.#releaser.releaseEnded(key, target);
    return outcome === 'done' ? released : outcome;
  }

  /** Serves a name's living Pod. A machine that waits is served before another, newer Pod. */
  async #serve(key: string, pod: Pod): Promise<{ readonly target: TransferTarget; readonly outcome: Outcome }> {
    const launcher = this.#launcherBefore(key, pod);
    if (launcher) {
      const { outcome, canReceive } = await this.#allocation.serve(key, launcher);
      if (outcome === 'again') return { target: { pod: launcher, canReceive }, outcome };
    }
    const { outcome, canReceive } = this.#needsNoAddress(key, pod)
      ? this.#skipAllocation(key)
      : await this.#allocation.serve(key, pod);
    return { target: { pod, canReceive }, outcome };
  }

  /**
   * Returns the running launcher of a machine whose name an ordinary Pod without addresses has. The
   * machine may be older, or had the addresses of the name in an earlier run.
   */
  #launcherBefore(key: string, pod: Pod): Pod | undefined {
    if (isLauncher(pod) || this.#options.allocations.allocationsOf(key, pod.ledgerUid).length > 0) return undefined;
    return this.#pods
      .all(key)
      .find(
        (other) =>
          isLauncher(other) && other.deletionTimestamp === '' && this.#lifecycles.lifecycleOf(other).state === 'alive',
      );
  }

  /** Whether a Pod needs no address: deleted before it has one, it gets no sandbox. */
  #needsNoAddress(key: string, { ledgerUid, deletionTimestamp, annotations }: Pod): boolean {
    const showsAllocation = hasAllocatedAnnotation(annotations);
    const holdsNone = this.#options.allocations.allocationsOf(key, ledgerUid).length === 0;
    return deletionTimestamp !== '' && !showsAllocation && holdsNone;
  }

  /** Skips the Pod. What an earlier Pod of the name holds is kept for the next Pod. */
  #skipAllocation(key: string): ServeResult {
    this.#waiters.remove(key);
    return { outcome: 'done', canReceive: 'undecided' };
  }

  /** Finds a living Pod that holds the ledger name, if a Pod and a machine share the name. */
  #findNameConflict(key: string, { ledgerUid }: Pod): Pod | undefined {
    const holders = this.#options.allocations.uids(key).filter((uid) => uid !== ledgerUid);
    return this.#pods
      .all(key)
      .find((other) => holders.includes(other.ledgerUid) && this.#lifecycles.lifecycleOf(other).state === 'alive');
  }
}
