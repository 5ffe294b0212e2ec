/**
 * The allocations of each Pod uid, as the ledger reported them, and the uids with a request whose
 * outcome is unknown.
 *
 * Invariant: a uid that may hold allocations is never missing here, so that the allocations of
 * every deleted Pod can be released. A uid without allocations may be here: a release of nothing
 * succeeds.
 */
import { addTo, removeFrom } from '../../../../lib/maps.ts';
import type { Owner } from '../../../../proto/generated/ipledger.ts';
import { keyOf } from '../../../../lib/kubernetes/client/informer.ts';
import { AllocationIndex } from '../../ledger/allocation-index.ts';
import { podKeyOf, podNameOf, type LedgerEvent, type HeldAllocation } from '../../ledger/ledger-events.ts';
import { namespaceOf } from '../../namespaced-map.ts';
import type { LedgerSubscriber, LedgerSnapshot } from '../../ledger/ledger-subscriber.ts';

type AllocationEndedListener = (ended: HeldAllocation, event: Extract<LedgerEvent, { kind: 'released' }>) => void;

/** The state of a uid beside its allocations, which nearly all uids lack. */
interface UidState {
  readonly uid: string;
  /** Whether a request was sent whose outcome is unknown. */
  readonly isUncertain: boolean;
  /** The log position of the last reply to a release; 0 if there was none. */
  readonly releasedAt: number;
  /** The owner of the Pod when it was deleted. */
  readonly lastOwner: { readonly owner: Owner | undefined } | undefined;
}

const initialState: Omit<UidState, 'uid'> = { isUncertain: false, releasedAt: 0, lastOwner: undefined };

export class AllocationCache implements LedgerSubscriber {
  /** Allocations by "namespace/name" of the Pod: a new Pod of the same name has another uid. */
  readonly #held = new AllocationIndex(podNameOf);
  /** The states of uids by the same key. A uid without allocations and uncertainty has no entry. */
  readonly #states = new Map<string, readonly UidState[]>();
  /** Names of Pods that a StatefulSet controlled, such as "web-0" under "namespace/web". */
  readonly #members = new Map<string, Set<string>>();
  /** The number of a namespace's addresses in a Subnet, by "namespace/subnet". */
  readonly #addressCounts = new Map<string, number>();
  readonly #listeners: AllocationEndedListener[] = [];
  #seq = 0;
  #count = 0;
  /** The number of uids by namespace. */
  readonly #counts = new Map<string, number>();

  /** Calls `listener` with each allocation whose release the ledger reports. */
  onAllocationEnded(listener: AllocationEndedListener): void {
    this.#listeners.push(listener);
  }

  /** Whether a uid of this name holds any of these addresses of a subnet. */
  holdsAny(pod: string, subnet: string, addresses: readonly string[]): boolean {
    return this.#held
      .of(pod)
      .some((each) => each.subnet === subnet && each.addresses.some(({ address }) => addresses.includes(address)));
  }

  /** Returns how many addresses of a Subnet the Pods of a namespace hold. */
  addressCount(namespace: string, subnet: string): number {
    return this.#addressCounts.get(`${namespace}/${subnet}`) ?? 0;
  }

  get uidCount(): number {
    return this.#count;
  }

  /** The number of uids in a namespace. */
  uidCountOf(namespace: string): number {
    return this.#counts.get(namespace) ?? 0;
  }

  /** Yields the names of all Pods that hold or may hold allocations. */
  *podKeys(): Iterable<string> {
    yield* this.#held.keys();
    for (const pod of this.#states.keys()) if (this.#held.of(pod).length === 0) yield pod;
  }

  /** Yields the names that belong to members of the StatefulSet "namespace/name". */
  *membersOf(set: string): Iterable<string> {
    const namespace = namespaceOf(set);
    const members = this.#members.get(set);
    for (const name of members ?? []) yield keyOf({ namespace, name });
    // Adds Pods whose request has no reply yet, or that the StatefulSet adopted before they were
    // deleted.
    for (const pod of this.#states.keys())
      if (stemOf(pod) === set && members?.has(pod.slice(namespace.length + 1)) !== true) yield pod;
  }

  uids(pod: string): string[] {
    const uncertain = this.#states.get(pod)?.filter(({ isUncertain }) => isUncertain) ?? [];
    return [...new Set([...this.#held.of(pod), ...uncertain].map(({ uid }) => uid))];
  }

  /** Returns the allocations that the ledger has confirmed. */
  allocationsOf(pod: string, uid: string): HeldAllocation[] {
    return this.#held.of(pod).filter((each) => each.uid === uid);
  }

  /** Records the owner of a deleted Pod. */
  recordLastOwner(pod: string, uid: string, owner: Owner | undefined): void {
    if (this.#isKnown(pod, uid)) this.#change(pod, uid, { lastOwner: { owner } });
  }

  /** Returns the uid's owner when it was deleted, or else when it requested its addresses. */
  lastOwner(pod: string, uid: string): Owner | undefined {
    const last = this.#stateOf(pod, uid)?.lastOwner;
    return last ? last.owner : this.allocationsOf(pod, uid)[0]?.owner;
  }

  /** Returns the latest known event about Pods of this name. */
  seenSeq(pod: string): number {
    return this.#held.of(pod).reduce((latest, { seq }) => Math.max(latest, seq), this.#seq);
  }

  /** Whether this uid has confirmed allocations and no request with an unknown outcome. */
  isSettled(pod: string, uid: string): boolean {
    return !this.isUncertain(pod, uid) && this.allocationsOf(pod, uid).length > 0;
  }

  /** Whether this uid has a request with an unknown outcome. */
  isUncertain(pod: string, uid: string): boolean {
    return this.#stateOf(pod, uid)?.isUncertain === true;
  }

  /** Records that a request for addresses is about to be sent. */
  markRequested(pod: string, uid: string): void {
    this.#change(pod, uid, { isUncertain: true });
  }

  /** Records a granted request, as of position `seq`. The ledger's events report later changes. */
  markAllocated(
    pod: string,
    uid: string,
    { allocated, seq }: { readonly allocated: readonly HeldAllocation[]; readonly seq: number },
  ): void {
    if (seq > this.#seq) for (const each of allocated) this.#put(each);
    this.#change(pod, uid, { isUncertain: false });
  }

  /** Records a refused request. */
  markRefused(pod: string, uid: string): void {
    this.#change(pod, uid, { isUncertain: false });
  }

  /**
   * Records a successful release, as of position `seq`. The ledger's events report the ended
   * allocations. A release does not end an allocation with a fenced address.
   */
  markReleased(pod: string, uid: string, seq: number): void {
    this.#change(pod, uid, { isUncertain: false, releasedAt: seq });
  }

  /** Whether a release succeeded whose events have not arrived yet. */
  isReleasing(pod: string, uid: string): boolean {
    return (this.#stateOf(pod, uid)?.releasedAt ?? 0) > this.#seq;
  }

  onSnapshot({ seq, allocations }: LedgerSnapshot): void {
    this.#held.clear();
    this.#members.clear();
    this.#addressCounts.clear();
    const uncertain = [...this.#states].map(
      ([pod, states]) => [pod, states.filter(({ isUncertain }) => isUncertain)] as const,
    );
    this.#states.clear();
    this.#count = 0;
    this.#counts.clear();
    for (const [pod, states] of uncertain)
      for (const { uid, ...state } of states) this.#change(pod, uid, { ...state, releasedAt: 0 });
    for (const allocation of allocations) this.#put(allocation);
    this.#seq = seq;
  }

  onEvents(events: readonly LedgerEvent[], seq: number): void {
    for (const event of events) {
      if (event.kind === 'allocated') this.#put(event.allocation);
      else if (event.kind === 'bound') this.#bind(event);
      else if (event.kind === 'released') {
        const ended = this.#remove(podKeyOf(event), event);
        if (ended) for (const listener of this.#listeners) listener(ended, event);
      }
    }
    this.#seq = seq;
  }

  /** Adds an allocation. An attachment of a uid has one allocation, the last that was reported. */
  #put(allocation: HeldAllocation): void {
    const { uid, provider, ordinal, seq } = allocation;
    const pod = podKeyOf(allocation);
    if (!this.#isKnown(pod, uid)) this.#addToCount(pod, 1);
    const replaced = this.allocationsOf(pod, uid).filter(
      (other) => other.seq === seq || (other.provider === provider && other.ordinal === ordinal),
    );
    for (const other of replaced) {
      this.#held.remove(pod, other.seq);
      this.#countAddresses(other, -1);
    }
    this.#held.put(allocation);
    this.#countAddresses(allocation, 1);
    for (const other of replaced) this.#dropMember(pod, other);
    const set = statefulSetOf(allocation);
    if (set !== undefined) addTo(this.#members, set, allocation.pod);
  }

  #bind(event: Extract<LedgerEvent, { kind: 'bound' }>): void {
    const bound = this.#held.bound(event);
    if (bound) this.#held.put(bound);
  }

  #remove(pod: string, { seq, uid }: Pick<HeldAllocation, 'seq' | 'uid'>): HeldAllocation | undefined {
    const isOfUid = this.allocationsOf(pod, uid).some((each) => each.seq === seq);
    const removed = isOfUid ? this.#held.remove(pod, seq) : undefined;
    if (!removed) return undefined;
    if (!this.#isKnown(pod, uid)) this.#forget(pod, uid);
    this.#countAddresses(removed, -1);
    this.#dropMember(pod, removed);
    return removed;
  }

  #countAddresses({ namespace, subnet, addresses }: HeldAllocation, sign: 1 | -1): void {
    const key = `${namespace}/${subnet}`;
    const count = (this.#addressCounts.get(key) ?? 0) + sign * addresses.length;
    if (count === 0) this.#addressCounts.delete(key);
    else this.#addressCounts.set(key, count);
  }

  #dropMember(pod: string, removed: HeldAllocation): void {
    const set = statefulSetOf(removed);
    if (set === undefined || this.#held.of(pod).some((each) => statefulSetOf(each) === set)) return;
    removeFrom(this.#members, set, removed.pod);
  }

  #isKnown(pod: string, uid: string): boolean {
    return this.isUncertain(pod, uid) || this.allocationsOf(pod, uid).length > 0;
  }

  #stateOf(pod: string, uid: string): UidState | undefined {
    return this.#states.get(pod)?.find((state) => state.uid === uid);
  }

  #change(pod: string, uid: string, changes: Partial<UidState>): void {
    const wasKnown = this.#isKnown(pod, uid);
    const others = this.#states.get(pod)?.filter((state) => state.uid !== uid) ?? [];
    const state = { ...initialState, ...this.#stateOf(pod, uid), ...changes, uid };
    this.#states.set(pod, [...others, state]);
    if (!wasKnown) this.#addToCount(pod, 1);
    if (!this.#isKnown(pod, uid)) this.#forget(pod, uid);
    else if (isInitial(state)) this.#dropState(pod, uid);
  }

  #forget(pod: string, uid: string): void {
    this.#addToCount(pod, -1);
    this.#dropState(pod, uid);
  }

  #addToCount(pod: string, change: number): void {
    this.#count += change;
    const namespace = namespaceOf(pod);
    const count = (this.#counts.get(namespace) ?? 0) + change;
    if (count > 0) this.#counts.set(namespace, count);
    else this.#counts.delete(namespace);
  }

  #dropState(pod: string, uid: string): void {
    const others = this.#states.get(pod)?.filter((state) => state.uid !== uid) ?? [];
    if (others.length > 0) this.#states.set(pod, others);
    else this.#states.delete(pod);
  }
}

const isInitial = ({ isUncertain, releasedAt, lastOwner }: UidState): boolean =>
  !isUncertain && releasedAt === 0 && lastOwner === undefined;

/** Returns the StatefulSet "namespace/name" that controlled the Pod at the allocation. */
const statefulSetOf = ({ namespace, owner }: HeldAllocation): string | undefined =>
  owner?.kind === 'StatefulSet' ? keyOf({ namespace, name: owner.name }) : undefined;

/** Returns the StatefulSet of which the Pod may be a member, judged by its name. */
const stemOf = (pod: string): string | undefined => /^(.+)-\d{1,9}$/.exec(pod)?.[1];
