/** Serves a living Pod: plans its attachments, requests its addresses, and reports why it waits. */
import { type ErrorCode, IpledgerError } from '../../../../lib/errors.ts';
import type { Logger } from '../../../../lib/process/log.ts';
import { virtualMachineKind } from '../../../../lib/kubernetes/pod-identity.ts';
import { allocationAttributes } from '../../../../lib/tracing/span.ts';
import type { PodEvent } from '../../kubernetes/event-recorder.ts';
import { isLauncher } from '../../kubernetes/launcher-verifier.ts';
import { isMirror, type Pod } from '../../kubernetes/objects/pod.ts';
import { callTimeoutMs, type LedgerClient } from '../../../../lib/ledger-client/ledger-client.ts';
import { type AttachmentRequest, IpamService } from '../../../../proto/generated/ipledger.ts';
import { heldAllocationOf, type HeldAllocation, type LedgerEvent } from '../../ledger/ledger-events.ts';
import type { PodTraces } from '../../pod-traces.ts';
import type { Outcome, WorkQueue } from '../../work-queue/work-queue.ts';
import { foreignResultEvent, foreignResultKeys } from './foreign-results.ts';
import type { AllocationCache } from './allocation-cache.ts';
import { ConflictingAddresses } from './conflicting-addresses.ts';
import type { EventBudget } from './event-budget.ts';
import type { ClusterView } from '../cluster-view.ts';
import type { IpamClaimDemand } from './planning/ipam-claim-request.ts';
import { planPod } from './planning/plan.ts';
import type { PodPlan } from './planning/request-addresses.ts';
import {
  allocatedEvent,
  budgetEvent,
  type Holder,
  kindOf,
  macWarningEvent,
  nameConflictProblem,
  otherKindProblem,
  planProblemEvent,
  refusalEvent,
  unservedEvent,
} from './pod-event-messages.ts';
import { ownerOf } from './pod-owner.ts';
import type { PodReleaser, TransferTarget } from './pod-releaser.ts';
import { allQueuesOf, quotaQueuesOf } from './wait-queue/wait-queues.ts';
import { UnservedNetworks } from './wait-queue/waiter-index.ts';
import type { Waiters } from './wait-queue/waiters.ts';
import type { MessageInput } from '../../../../proto/codec.ts';

export interface PodAllocatorOptions {
  readonly allocator: Pick<LedgerClient, 'call'>;
  readonly allocations: AllocationCache;
  readonly clusterView: ClusterView;
  readonly queue: Pick<WorkQueue, 'add' | 'addBefore' | 'tries'>;
  readonly waiters: Waiters;
  readonly releaser: Pick<PodReleaser, 'releaseDetached'>;
  readonly budget: EventBudget;
  /** Removes the annotation that shows why the Pod waits. */
  readonly endWaitReason: (pod: Pod) => void;
  /** Gives IPAMClaims their addresses. */
  readonly ipamClaims: { request(pod: string, demands: readonly IpamClaimDemand[]): void };
  /** Reads the Pod of a name from the API server. */
  readonly lookUpPod: (key: string, signal: AbortSignal) => Promise<Pod | undefined>;
  /** Finds another living Pod that holds allocations under `pod.ledgerName`. */
  readonly findNameConflict: (key: string, pod: Pod) => Pod | undefined;
  readonly recordEvent: (pod: Pod, podEvent: PodEvent) => void;
  /** Removes annotations from this version of a Pod. Resolves to false if the Pod has changed. */
  readonly removeAnnotations: (pod: Pod, keys: readonly string[]) => Promise<boolean>;
  readonly traces?: Pick<PodTraces, 'startRequest'> | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The outcome of serving a living Pod, and the allocations that this Pod may still receive. */
export interface ServeResult extends Pick<TransferTarget, 'canReceive'> {
  readonly outcome: Outcome;
}

/** The number of failed requests before an Event reports that the allocator is silent. */
const triesBeforeEvent = 3;

/**
 * Refusals that release what an owner retains and this Pod cannot receive: another Pod may wait for
 * it, and hold what this Pod requests. Other refusals, and a wrong annotation, may last for ever:
 * what an owner retains is kept for a corrected request. A superseded request does not come from
 * the newest Pod, and releases nothing. All other refusals release what no owner retains.
 */
const freeingRefusals: ReadonlySet<ErrorCode> = new Set([
  'ADDRESS_IN_USE',
  'MAC_IN_USE',
  'SUBNET_FULL',
  'NAMESPACE_QUOTA_EXCEEDED',
]);

/** Whether the ledger refused the request. A frozen ledger needs the annotations. */
const isRefusal = ({ kind, code }: IpledgerError): boolean =>
  ['invalid', 'conflict', 'exhausted'].includes(kind) && code !== 'UNAUTHENTICATED' && code !== 'PERMISSION_DENIED';

const receivesNothing = (): boolean => false;

export class PodAllocator {
  readonly #options: PodAllocatorOptions;
  /** Pods with a Warning Event. They get a Normal Event when they are served. */
  readonly #warnedPods = new Set<string>();
  /** The uid of each Pod whose unserved networks and MAC warnings were reported, by name. */
  readonly #reportedPlans = new Map<string, string>();
  /** The uid of each Pod whose foreign results were removed, which happens once, by name. */
  readonly #cleanedPods = new Map<string, string>();
  readonly #unserved = new UnservedNetworks();
  readonly #conflicts = new ConflictingAddresses();

  constructor(options: PodAllocatorOptions) {
    this.#options = options;
  }

  /** Forgets a name without a living Pod that needs addresses: it waits no longer. */
  forget(key: string): void {
    this.#options.waiters.remove(key);
    this.#options.ipamClaims.request(key, []);
    this.#warnedPods.delete(key);
    this.#unserved.forget(key);
    this.#conflicts.forget(key);
  }

  /** Records an allocation that ended because another host answered on its address. */
  onConflict(ended: HeldAllocation): void {
    this.#conflicts.add(ended);
  }

  onEvent(event: LedgerEvent): void {
    if (event.kind === 'allocated') this.#conflicts.onAllocated(event.allocation);
  }

  /** Retries Pods that name a network of another plugin, which may be served now. */
  wakeUnserved(topic: string): void {
    for (const key of this.#unserved.podsOf(topic)) this.#options.queue.add(key);
  }

  /** Forgets a deleted Pod, so that the next Pod of the name is reported again. */
  onPodDeleted(key: string): void {
    this.#reportedPlans.delete(key);
    this.#cleanedPods.delete(key);
  }

  /**
   * Plans the Pod's attachments and requests what it lacks.
   * @returns `again` while the Pod waits; `done` when it has all its addresses, or needs none
   */
  async serve(key: string, pod: Pod): Promise<ServeResult> {
    try {
      return await this.#attempt(key, pod);
    } catch (error) {
      // The failed call counts as a request. Otherwise younger Pods would let this Pod go first
      // without a pause, and get no address
      this.#options.waiters.markRequested(key);
      throw error;
    }
  }

  async #attempt(key: string, pod: Pod): Promise<ServeResult> {
    const { allocations, clusterView, findNameConflict, queue, releaser, waiters } = this.#options;
    // Reads the position first: the Pod may not live at a later position.
    const seenSeq = allocations.seenSeq(key);
    const isSettled = allocations.isSettled(key, pod.ledgerUid);
    const held = allocations.allocationsOf(key, pod.ledgerUid).sort((one, other) => one.ordinal - other.ordinal);
    const plan = planPod(pod, clusterView, held, this.#conflicts.of(key, pod.ledgerUid));
    this.#reportPlan(key, pod, plan);
    this.#unserved.put(key, pod, plan);
    this.#options.ipamClaims.request(key, plan.ipamClaims);
    const detachOutcome = await releaser.releaseDetached(pod, plan.detached);
    const conflict = plan.attachments.length > 0 ? findNameConflict(key, pod) : undefined;
    if (conflict) {
      this.#wait(key, pod, { topics: plan.topics, podEvent: planProblemEvent(nameConflictProblem(pod, conflict)) });
      return { outcome: 'again', canReceive: 'undecided' };
    }
    const holder = plan.attachments.length > 0 ? this.#holderOfOtherKind(key, pod) : undefined;
    if (holder) {
      this.#wait(key, pod, { topics: plan.topics, podEvent: planProblemEvent(otherKindProblem(pod, holder)) });
      return { outcome: 'again', canReceive: 'nothing' };
    }
    if (plan.problems.length > 0) {
      const isFaultOfPod = plan.problems.some(({ about }) => about === 'request');
      // Does not report the first try: a Subnet or network that is applied together with its Pods
      // is often observed a moment later.
      const isReported = isFaultOfPod || queue.tries(key) > 0;
      this.#wait(key, pod, { topics: plan.topics, podEvent: isReported ? planProblemEvent(plan) : undefined });
      if (isFaultOfPod) await this.#removeForeignResults(key, pod, plan);
      // Does not retry a wrong annotation: a change of the Pod or of a topic triggers the next
      // attempt.
      const canReceive = isFaultOfPod ? 'nothing' : 'undecided';
      return { outcome: isFaultOfPod ? detachOutcome : 'again', canReceive: isSettled ? receivesNothing : canReceive };
    }
    if (plan.attachments.length === 0) {
      waiters.remove(key);
      if (pod.showsWaitReason) this.#options.endWaitReason(pod);
      await this.#removeForeignResults(key, pod, plan);
      return { outcome: detachOutcome, canReceive: receivesNothing };
    }
    if (await this.#isOutdatedMirror(key, pod)) {
      // Leaves the queues of addresses: younger Pods would let it go first, without a pause.
      this.#wait(key, pod, { topics: plan.topics, podEvent: undefined });
      return { outcome: 'again', canReceive: 'undecided' };
    }
    const ahead = waiters.waitersAhead(key, pod, plan);
    if (ahead.length === 0) return this.#allocate(key, pod, { plan, seenSeq });
    queue.addBefore(key, ahead);
    return { outcome: 'again', canReceive: 'undecided' };
  }

  /**
   * Returns what holds allocations under the name of this Pod and is of another kind. A virtual
   * machine keeps them while it is stopped.
   */
  #holderOfOtherKind(key: string, pod: Pod): Holder | undefined {
    const { allocations } = this.#options;
    const kind = kindOf(pod.ledgerUid, isLauncher(pod));
    return allocations
      .uids(key)
      .map((uid) => ({ uid, kind: kindOf(uid, allocations.lastOwner(key, uid)?.kind === virtualMachineKind) }))
      .find((holder) => holder.kind !== kind && holder.uid !== pod.ledgerUid);
  }

  /**
   * Whether a mirror would take over what another uid of its name holds, but the API server has
   * that one: the watch may be behind the events of the ledger. The allocator refuses an earlier
   * Pod that has ended, but the uid of a static Pod returns and does not end.
   */
  async #isOutdatedMirror(key: string, pod: Pod): Promise<boolean> {
    const { allocations, lookUpPod, signal } = this.#options;
    if (!isMirror(pod) || allocations.uids(key).every((uid) => uid === pod.ledgerUid)) return false;
    return (await lookUpPod(key, signal))?.ledgerUid !== pod.ledgerUid;
  }

  /** Reports unserved networks and MAC warnings once for each Pending Pod's uid. */
  #reportPlan(key: string, pod: Pod, plan: PodPlan): void {
    if (pod.phase !== 'Pending' || this.#reportedPlans.get(key) === pod.uid) return;
    if (plan.unserved.length === 0 && plan.warnings.length === 0) return;
    this.#reportedPlans.set(key, pod.uid);
    if (plan.unserved.length > 0) this.#options.recordEvent(pod, unservedEvent(plan));
    if (plan.warnings.length > 0) this.#options.recordEvent(pod, macWarningEvent(plan));
  }

  /**
   * Removes annotations of another Pod or cluster, once the Pod's request is refused or there is
   * none. Removes them only from the version of the Pod that was judged: a projection in between
   * makes the removal fail.
   */
  async #removeForeignResults(key: string, pod: Pod, { requestedProviders }: PodPlan): Promise<void> {
    const { allocations, log, recordEvent, removeAnnotations } = this.#options;
    if (this.#cleanedPods.get(key) === pod.uid || allocations.isUncertain(key, pod.ledgerUid)) return;
    const keys = foreignResultKeys(pod, allocations.allocationsOf(key, pod.ledgerUid), requestedProviders);
    if (keys.length === 0) return;
    try {
      if (!(await removeAnnotations(pod, keys))) return;
      this.#cleanedPods.set(key, pod.uid);
      recordEvent(pod, foreignResultEvent(keys));
    } catch (error) {
      log.debug(
        { err: error, pod: key },
        'pods: removing annotations of another Pod failed; the next attempt repeats it',
      );
    }
  }

  async #allocate(
    key: string,
    pod: Pod,
    { plan, seenSeq }: { readonly plan: PodPlan; readonly seenSeq: number },
  ): Promise<ServeResult> {
    const { allocator, allocations, budget, recordEvent, signal, traces, waiters } = this.#options;
    const { namespace, ledgerName: name, ledgerUid: uid, node } = pod;
    const held = new Set(allocations.allocationsOf(key, uid).map(({ seq }) => seq));
    const overspent = budget.refusalOf(namespace, uid, Math.max(1, plan.attachments.length - held.size));
    if (overspent !== undefined) {
      this.#wait(key, pod, { topics: plan.topics, podEvent: budgetEvent(overspent) });
      return { outcome: 'again', canReceive: 'undecided' };
    }
    const request = {
      pod: { namespace, name, uid, node, owner: ownerOf(pod) },
      attachments: plan.attachments,
      validMs: callTimeoutMs,
      seenSeq,
    };
    waiters.markRequested(key);
    allocations.markRequested(key, uid);
    const span = traces?.startRequest(pod);
    try {
      const reply = await allocator.call(IpamService.allocate, request, signal, span?.context);
      const { allocations: allocated, position } = reply;
      span?.set(allocationAttributes(allocated));
      span?.end();
      allocations.markAllocated(key, uid, { allocated: allocated.map(heldAllocationOf), seq: position?.seq ?? 0 });
      budget.spend(namespace, uid, allocated.filter(({ seq }) => !held.has(seq)).length);
      waiters.onAllocated(key, plan, allocated);
      if (this.#warnedPods.delete(key)) recordEvent(pod, allocatedEvent(allocated));
      return { outcome: 'done', canReceive: receivesNothing };
    } catch (thrown) {
      const error = IpledgerError.from(thrown);
      span?.end(error.code);
      if (signal.aborted) return { outcome: 'again', canReceive: 'undecided' };
      const result = this.#onAllocateFailed(key, pod, { plan, error });
      if (isRefusal(error)) await this.#removeForeignResults(key, pod, plan);
      return result;
    }
  }

  #onAllocateFailed(
    key: string,
    pod: Pod,
    { plan, error }: { readonly plan: PodPlan; readonly error: IpledgerError },
  ): ServeResult {
    const { allocations, log, queue } = this.#options;
    const { ledgerUid: uid } = pod;
    // Keeps the uid after a transient failure or a bug: the allocator may have allocated, so a
    // release can follow.
    const isDecided = error.kind !== 'transient' && error.kind !== 'bug';
    if (isDecided) allocations.markRefused(key, uid);
    const tries = queue.tries(key);
    log[tries === 0 && error.kind !== 'transient' ? 'info' : 'debug'](
      { pod: key, uid, code: error.code, reason: error.message },
      isDecided ? 'pods: the allocator refused the request' : 'pods: the request has no answer yet',
    );
    const hasCause = error.kind !== 'transient' || error.code === 'LEDGER_NOT_WRITABLE';
    const isReported = hasCause || tries >= triesBeforeEvent;
    const waitTopics =
      error.code === 'NAMESPACE_QUOTA_EXCEEDED'
        ? quotaQueuesOf(plan, pod.namespace)
        : allQueuesOf(plan, error.kind === 'exhausted');
    const topics = new Set([...plan.topics, ...waitTopics]);
    this.#wait(key, pod, { topics, podEvent: isReported ? refusalEvent(error, plan) : undefined });
    const frees = freeingRefusals.has(error.code);
    if (frees) return { outcome: 'again', canReceive: (held) => canTransfer(held, plan.attachments) };
    const isKept = !isRefusal(error) || error.code === 'POD_SUPERSEDED';
    return { outcome: 'again', canReceive: isKept ? 'undecided' : 'nothing' };
  }

  #wait(
    key: string,
    pod: Pod,
    { topics, podEvent }: { readonly topics: ReadonlySet<string>; readonly podEvent: PodEvent | undefined },
  ): void {
    this.#options.waiters.wait(key, pod, topics);
    if (!podEvent) return;
    this.#warnedPods.add(key);
    this.#options.recordEvent(pod, podEvent);
  }
}

/**
 * Whether this allocation of an earlier Pod could serve any of the requests. The allocator decides
 * about the transfer. In doubt this returns true: an allocation that is retained too long is
 * released later.
 */
function canTransfer(held: HeldAllocation, requests: readonly MessageInput<AttachmentRequest>[]): boolean {
  const request = requests.find(({ provider, ordinal = 0 }) => provider === held.provider && ordinal === held.ordinal);
  if (!request?.subnets?.includes(held.subnet)) return false;
  const heldAddresses = new Set(held.addresses.map(({ address }) => address));
  const candidates = request.candidates ?? [];
  return (
    candidates.length === 0 ||
    candidates.some(({ addresses = [] }) => addresses.every((each) => heldAddresses.has(each)))
  );
}
