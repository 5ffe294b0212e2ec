/**
 * The allocations of each Pod uid: those that the ledger reported, and uids with a request whose outcome is unknown.
 *
 * Invariant: a uid that may hold allocations is never missing here, so that the allocations of every deleted Pod can be
 * released. A uid may be here without allocations: to release nothing is a success.
 */
import type { Owner } from '../../../../proto/generated/ipledger.ts';
import { keyOf } from '../../../../lib/kubernetes/client/informer.ts';
import type { LedgerEvent, HeldAllocation } from '../../ledger/ledger-events.ts';
import type { LedgerSubscriber, LedgerSnapshot } from '../../ledger/ledger-follower.ts';

interface UidEntry {
  readonly uid: string;
  /** One for each attachment. Lists take less memory than maps, and a Pod has few attachments. */
  allocations: HeldAllocation[];
  /** Whether a request was sent whose outcome is unknown. */
  isUncertain: boolean;
  /** The log position of the last reply to a release; 0 if there was none. */
  releasedAt: number;
  /** The owner of the Pod when it was deleted. */
  lastOwner: { readonly owner: Owner | undefined } | undefined;
}

export class AllocationCache implements LedgerSubscriber {
  /** By the Pod's "namespace/name": several uids while a new Pod of the same name replaces an earlier one. */
  readonly #pods = new Map<string, UidEntry[]>();
  /** Names that end in a number, by the part before it: "namespace/web-0" under "namespace/web". */
  readonly #members = new Map<string, Set<string>>();
  readonly #listeners: ((ended: HeldAllocation) => void)[] = [];
  #seq = 0;
  #count = 0;

  /** Calls `listener` with each allocation whose release the ledger reports. */
  onAllocationEnded(listener: (ended: HeldAllocation) => void): void {
    this.#listeners.push(listener);
  }

  /** Whether a uid of this name holds one of these addresses of a subnet. */
  holdsAny(pod: string, subnet: string, addresses: readonly string[]): boolean {
    const held = this.uids(pod).flatMap((uid) => this.allocationsOf(pod, uid));
    return held.some(
      (each) => each.subnet === subnet && each.addresses.some(({ address }) => addresses.includes(address)),
    );
  }

  get uidCount(): number {
    return this.#count;
  }

  /** The names of all Pods that hold allocations or may hold some. */
  podKeys(): Iterable<string> {
    return this.#pods.keys();
  }

  /** Those of these names that members of the StatefulSet "namespace/name" have. */
  membersOf(set: string): Iterable<string> {
    return this.#members.get(set) ?? [];
  }

  uids(pod: string): string[] {
    return (this.#pods.get(pod) ?? []).map(({ uid }) => uid);
  }

  /** The allocations that the ledger has confirmed. */
  allocationsOf(pod: string, uid: string): HeldAllocation[] {
    return [...(this.#find(pod, uid)?.allocations ?? [])];
  }

  /** The Pod of this uid was deleted, and had this owner. */
  recordLastOwner(pod: string, uid: string, owner: Owner | undefined): void {
    const entry = this.#find(pod, uid);
    if (entry) entry.lastOwner = { owner };
  }

  /** The owner of this uid when it was deleted; if that was not observed, when it requested its addresses. */
  lastOwner(pod: string, uid: string): Owner | undefined {
    const last = this.#find(pod, uid)?.lastOwner;
    return last ? last.owner : this.allocationsOf(pod, uid)[0]?.owner;
  }

  /** Whether this uid has confirmed allocations and no request with an unknown outcome. */
  isSettled(pod: string, uid: string): boolean {
    const entry = this.#find(pod, uid);
    return entry !== undefined && !entry.isUncertain && entry.allocations.length > 0;
  }

  /** A request for addresses is about to be sent. */
  markRequested(pod: string, uid: string): void {
    this.#entryOf(pod, uid).isUncertain = true;
  }

  /** The request was granted, as of position `seq`. Later changes come with the ledger's events. */
  markAllocated(
    pod: string,
    uid: string,
    { allocated, seq }: { readonly allocated: readonly HeldAllocation[]; readonly seq: number },
  ): void {
    const entry = this.#entryOf(pod, uid);
    entry.isUncertain = false;
    if (seq > this.#seq) for (const each of allocated) putAllocation(entry, each);
    this.#removeIfEmpty(pod, uid);
  }

  /** The request was refused. */
  markRefused(pod: string, uid: string): void {
    this.#entryOf(pod, uid).isUncertain = false;
    this.#removeIfEmpty(pod, uid);
  }

  /**
   * A release succeeded, as of position `seq`. The ledger's events report what it ended. It does not end an allocation with a
   * fenced address.
   */
  markReleased(pod: string, uid: string, seq: number): void {
    const entry = this.#entryOf(pod, uid);
    entry.isUncertain = false;
    entry.releasedAt = seq;
    this.#removeIfEmpty(pod, uid);
  }

  /** Whether a release succeeded whose events have not arrived yet. */
  isReleasing(pod: string, uid: string): boolean {
    return (this.#find(pod, uid)?.releasedAt ?? 0) > this.#seq;
  }

  onSnapshot({ seq, allocations }: LedgerSnapshot): void {
    for (const [pod, entries] of this.#pods) {
      for (const entry of entries) {
        entry.allocations = [];
        entry.releasedAt = 0;
        this.#removeIfEmpty(pod, entry.uid);
      }
    }
    for (const allocation of allocations) this.#put(allocation);
    this.#seq = seq;
  }

  onEvents(events: readonly LedgerEvent[], seq: number): void {
    for (const event of events) {
      if (event.kind === 'allocated') this.#put(event.allocation);
      else if (event.kind === 'released') {
        const pod = keyOf({ namespace: event.namespace, name: event.pod });
        const entry = this.#find(pod, event.uid);
        const ended = entry?.allocations.find(({ seq: each }) => each === event.seq);
        if (entry && ended) entry.allocations = entry.allocations.filter((each) => each !== ended);
        this.#removeIfEmpty(pod, event.uid);
        if (ended) for (const listener of this.#listeners) listener(ended);
      }
    }
    this.#seq = seq;
  }

  #put(allocation: HeldAllocation): void {
    const { namespace, pod, uid } = allocation;
    putAllocation(this.#entryOf(keyOf({ namespace, name: pod }), uid), allocation);
  }

  #find(pod: string, uid: string): UidEntry | undefined {
    return this.#pods.get(pod)?.find((entry) => entry.uid === uid);
  }

  #entryOf(pod: string, uid: string): UidEntry {
    const known = this.#find(pod, uid);
    if (known) return known;
    const entry: UidEntry = { uid, allocations: [], isUncertain: false, releasedAt: 0, lastOwner: undefined };
    const others = this.#pods.get(pod);
    this.#pods.set(pod, others ? others.concat(entry) : [entry]);
    const stem = others ? undefined : stemOf(pod);
    if (stem !== undefined) this.#members.set(stem, (this.#members.get(stem) ?? new Set()).add(pod));
    this.#count += 1;
    return entry;
  }

  #removeIfEmpty(pod: string, uid: string): void {
    const entry = this.#find(pod, uid);
    if (!entry || entry.isUncertain || entry.allocations.length > 0) return;
    const others = (this.#pods.get(pod) ?? []).filter((each) => each !== entry);
    this.#count -= 1;
    if (others.length > 0) this.#pods.set(pod, others);
    else this.#forget(pod);
  }

  #forget(pod: string): void {
    this.#pods.delete(pod);
    const stem = stemOf(pod) ?? '';
    const members = this.#members.get(stem);
    members?.delete(pod);
    if (members?.size === 0) this.#members.delete(stem);
  }
}

/** The StatefulSet whose member the Pod may be. */
const stemOf = (pod: string): string | undefined => /^(.+)-\d{1,9}$/.exec(pod)?.[1];

/** An attachment of a uid has one allocation: the one that was reported last. */
function putAllocation(entry: UidEntry, allocation: HeldAllocation): void {
  const others = entry.allocations.filter(
    ({ seq, provider, ordinal }) =>
      seq !== allocation.seq && (provider !== allocation.provider || ordinal !== allocation.ordinal),
  );
  entry.allocations = others.length === 0 ? [allocation] : others.concat(allocation);
}
