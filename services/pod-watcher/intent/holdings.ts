/**
 * Which Pod uids hold addresses, or may: the ledger's word, plus what we asked for and whose outcome is not known yet.
 *
 * Invariant: a uid that may hold something is never missing here, so whoever is gone can always be released. It may stand
 * here without holding anything; releasing nothing is success.
 */
import type { Owner } from '../../../proto/ipledger.ts';
import { keyOf } from '../kubernetes/list-watch.ts';
import type { Fact, Holding } from '../ledger/facts.ts';
import type { Reader, Snapshot } from '../ledger/follow.ts';

interface Held {
  /** By the number of the event that gave it. */
  readonly given: Map<number, Holding>;
  /** A request was sent, and whether it took effect is not known. */
  unsettled: boolean;
  /** The position at which a release was answered; 0 when none was. */
  releasedAt: number;
  /** Who controlled the Pod when it was seen last, if it is gone. */
  left?: { readonly owner: Owner | undefined };
}

export class Holdings implements Reader {
  /** By the Pod's "namespace/name", then by uid: several uids while a Pod is replaced by its namesake. */
  readonly #pods = new Map<string, Map<string, Held>>();
  /** Of names that end in a number the names, by what stands before it: "namespace/web" of "namespace/web-0". */
  readonly #members = new Map<string, Set<string>>();
  readonly #listeners: ((holding: Holding) => void)[] = [];
  #seq = 0;
  #count = 0;

  /** Calls `listener` with each holding that the ledger tells the end of. */
  onEnded(listener: (holding: Holding) => void): void {
    this.#listeners.push(listener);
  }

  /** Whether anybody under this name holds one of these addresses of a subnet. */
  holdsAny(pod: string, subnet: string, addresses: readonly string[]): boolean {
    const held = this.uids(pod).flatMap((uid) => this.of(pod, uid));
    return held.some(
      (each) => each.subnet === subnet && each.addresses.some(({ address }) => addresses.includes(address)),
    );
  }

  /** How many uids stand here. */
  get count(): number {
    return this.#count;
  }

  /** The names of all Pods that hold something, or may. */
  pods(): Iterable<string> {
    return this.#pods.keys();
  }

  /** Of those the names that members of a StatefulSet "namespace/name" have. */
  membersOf(set: string): Iterable<string> {
    return this.#members.get(set) ?? [];
  }

  /** The uids under one name. */
  uids(pod: string): string[] {
    return [...(this.#pods.get(pod)?.keys() ?? [])];
  }

  /** What this uid holds for sure. */
  of(pod: string, uid: string): Holding[] {
    return [...(this.#pods.get(pod)?.get(uid)?.given.values() ?? [])];
  }

  /** The Pod of this uid is gone, and was controlled by this owner last. */
  leaves(pod: string, uid: string, owner: Owner | undefined): void {
    const held = this.#pods.get(pod)?.get(uid);
    if (held) held.left = { owner };
  }

  /** Who controlled this uid, as it was when it was gone; where nobody saw that, when it asked. */
  owner(pod: string, uid: string): Owner | undefined {
    const left = this.#pods.get(pod)?.get(uid)?.left;
    return left ? left.owner : this.of(pod, uid)[0]?.owner;
  }

  /** Whether this uid holds its addresses for sure. */
  settled(pod: string, uid: string): boolean {
    const held = this.#pods.get(pod)?.get(uid);
    return held !== undefined && !held.unsettled && held.given.size > 0;
  }

  /** A request for addresses is about to be sent. */
  begin(pod: string, uid: string): void {
    this.#held(pod, uid).unsettled = true;
  }

  /** It was granted, as of position `seq`. What happened since then, the ledger has told or will tell. */
  granted(
    pod: string,
    uid: string,
    { given, seq }: { readonly given: readonly Holding[]; readonly seq: number },
  ): void {
    const held = this.#held(pod, uid);
    held.unsettled = false;
    if (seq > this.#seq) for (const each of given) put(held, each);
    this.#sweep(pod, uid);
  }

  /** It was refused for sure. */
  refused(pod: string, uid: string): void {
    this.#held(pod, uid).unsettled = false;
    this.#sweep(pod, uid);
  }

  /**
   * A release was answered, as of position `seq`. What it ended, the ledger has told or will tell; what it left is held still:
   * of several addresses one that is fenced.
   */
  released(pod: string, uid: string, seq: number): void {
    const held = this.#held(pod, uid);
    held.unsettled = false;
    held.releasedAt = seq;
    this.#sweep(pod, uid);
  }

  /** Whether a release was answered, and the ledger has not told yet of all that it may have ended. */
  releasing(pod: string, uid: string): boolean {
    return (this.#pods.get(pod)?.get(uid)?.releasedAt ?? 0) > this.#seq;
  }

  snapshot({ seq, holdings }: Snapshot): void {
    for (const [pod, uids] of this.#pods) {
      for (const [uid, held] of uids) {
        held.given.clear();
        held.releasedAt = 0;
        this.#sweep(pod, uid);
      }
    }
    for (const holding of holdings) this.#given(holding);
    this.#seq = seq;
  }

  facts(facts: readonly Fact[], seq: number): void {
    for (const fact of facts) {
      if (fact.kind === 'given') this.#given(fact.holding);
      else if (fact.kind === 'ended') {
        const pod = keyOf({ namespace: fact.namespace, name: fact.pod });
        const given = this.#pods.get(pod)?.get(fact.uid)?.given;
        const holding = given?.get(fact.seq);
        given?.delete(fact.seq);
        this.#sweep(pod, fact.uid);
        if (holding) for (const listener of this.#listeners) listener(holding);
      }
    }
    this.#seq = seq;
  }

  #given(holding: Holding): void {
    const { namespace, pod, uid } = holding;
    put(this.#held(keyOf({ namespace, name: pod }), uid), holding);
  }

  #held(pod: string, uid: string): Held {
    let uids = this.#pods.get(pod);
    if (!uids) {
      this.#pods.set(pod, (uids = new Map<string, Held>()));
      const stem = stemOf(pod);
      if (stem !== undefined) this.#members.set(stem, (this.#members.get(stem) ?? new Set()).add(pod));
    }
    let held = uids.get(uid);
    if (!held) {
      uids.set(uid, (held = { given: new Map(), unsettled: false, releasedAt: 0 }));
      this.#count += 1;
    }
    return held;
  }

  #sweep(pod: string, uid: string): void {
    const uids = this.#pods.get(pod);
    const held = uids?.get(uid);
    if (!uids || !held || held.unsettled || held.given.size > 0) return;
    uids.delete(uid);
    this.#count -= 1;
    if (uids.size === 0) this.#forget(pod);
  }

  #forget(pod: string): void {
    this.#pods.delete(pod);
    const stem = stemOf(pod) ?? '';
    const members = this.#members.get(stem);
    members?.delete(pod);
    if (members?.size === 0) this.#members.delete(stem);
  }
}

const stemOf = (pod: string): string | undefined => /^(.+)-\d{1,9}$/.exec(pod)?.[1];

/** An attachment of a uid has one allocation: whichever was told last. */
function put({ given }: Held, holding: Holding): void {
  for (const { seq, provider, ordinal } of given.values())
    if (provider === holding.provider && ordinal === holding.ordinal) given.delete(seq);
  given.set(holding.seq, holding);
}
