/**
 * Tracks which Pods have ended, and since when Pods terminate. A Pod that has ended never lives
 * again under its uid, even if its object shows another state later: its addresses may belong to
 * another Pod by then.
 *
 * This process measures the time of a deletion from when it saw the deletion, because the
 * timestamps of the API server are from another clock. The next watcher continues the measurement.
 *
 * The memory is bounded by the number of Pods in the Kubernetes API.
 */
import { hasCompleted } from '../../../../lib/kubernetes/pod-lifecycle.ts';
import { isMirror, type Pod } from '../../kubernetes/objects/pod.ts';
import { handoverLimits } from '../../limits.ts';

/** The grace period of a terminating uid, and the milliseconds for which watchers have seen it. */
export type TerminatingPods = Readonly<Record<string, readonly [graceSeconds: number, seenForMs: number]>>;

/** A Pod of the previous watcher that this one has not seen within this time was removed. */
const unseenMs = 600_000;

interface Deletion {
  readonly graceSeconds: number;
  /** The time of the first sight, by the clock of this process. */
  readonly since: number;
  /** Whether only the previous watcher has seen it so far. */
  readonly isUnseen: boolean;
}

export class LifecycleTracker {
  /** Ended Pods by the uid of the object: a restarted static Pod gets a new uid. */
  readonly #ended = new Map<string, PodLifecycle>();
  /** Terminating Pods by the same uid, earliest first. */
  readonly #terminating = new Map<string, Deletion>();
  readonly #now: () => number;
  readonly #startedAt: number;

  /** Starts with the observations of the previous watcher. @param now a monotonic clock in ms */
  constructor(earlier: TerminatingPods = {}, now = () => performance.now()) {
    this.#now = now;
    this.#startedAt = now();
    for (const [uid, [graceSeconds, seenForMs]] of Object.entries(earlier))
      this.#terminating.set(uid, { graceSeconds, since: this.#startedAt - seenForMs, isUnseen: true });
  }

  lifecycleOf(pod: Pod): PodLifecycle {
    const ended = this.#ended.get(pod.uid);
    if (ended) return ended;
    const lifecycle = podLifecycle(
      pod,
      pod.deletionTimestamp === '' || isMirror(pod) ? 0 : this.#terminatingForMs(pod),
    );
    if (lifecycle.state === 'completed' || lifecycle.state === 'overdue') this.#ended.set(pod.uid, lifecycle);
    return lifecycle;
  }

  /** Forgets a Pod that the Kubernetes API no longer has. */
  forget({ uid }: Pick<Pod, 'uid'>): void {
    this.#ended.delete(uid);
    this.#terminating.delete(uid);
  }

  /** Returns a bounded number of Pods for the next watcher: those that have terminated longest. */
  terminating(): TerminatingPods {
    const now = this.#now();
    const mayHaveUnseen = now - this.#startedAt < unseenMs;
    const terminating: Record<string, readonly [number, number]> = {};
    let count = 0;
    for (const [uid, { graceSeconds, since, isUnseen }] of this.#terminating) {
      if (isUnseen && !mayHaveUnseen) continue;
      if (++count > handoverLimits.terminatingPods) break;
      terminating[uid] = [graceSeconds, Math.floor(now - since)];
    }
    return terminating;
  }

  /** Returns how long a Pod terminates. A DELETE with another grace period starts it again. */
  #terminatingForMs({ uid, graceSeconds }: Pod): number {
    const now = this.#now();
    const known = this.#terminating.get(uid);
    const isSame = known?.graceSeconds === graceSeconds;
    if (isSame && !known.isUnseen) return now - known.since;
    const since = isSame ? known.since : now;
    if (!isSame) this.#terminating.delete(uid);
    this.#terminating.set(uid, { graceSeconds, since, isUnseen: false });
    return now - since;
  }
}

/** Whether a Pod still needs its addresses. */
type PodLifecycle =
  /** The Pod uses the network of its node and gets no address. */
  | { readonly state: 'host' }
  /** The Pod needs addresses; `endsInMs` is set while it terminates. */
  | { readonly state: 'alive'; readonly endsInMs: number | undefined }
  /** The containers have ended and will not restart. */
  | { readonly state: 'completed' }
  /** The kubelet deleted the Pod, or it is overdue by a grace period: its node is lost. */
  | { readonly state: 'overdue' };

/**
 * Decides whether a Pod still needs its addresses, by Kube-OVN's rule for living Pods: users expect
 * allocations and releases at those times.
 * @param terminatingForMs how long this deletion of the Pod has been seen
 */
export function podLifecycle(pod: Pod, terminatingForMs: number): PodLifecycle {
  if (pod.hostNetwork) return { state: 'host' };
  if (hasCompleted(pod)) return { state: 'completed' };
  // A static Pod continues to run when its mirror is deleted.
  if (pod.deletionTimestamp === '' || isMirror(pod)) return { state: 'alive', endsInMs: undefined };
  // The kubelet's final DELETE has a grace period of 0.
  const endsInMs = 2 * pod.graceSeconds * 1_000 - terminatingForMs;
  return endsInMs > 0 ? { state: 'alive', endsInMs } : { state: 'overdue' };
}
