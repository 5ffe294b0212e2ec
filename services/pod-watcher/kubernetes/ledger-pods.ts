/**
 * Pods by the name under which the ledger knows them. Most have it to themselves. The launchers of a virtual machine share the
 * machine's: while it moves there are two, and both show the same addresses.
 */
import { SortedList } from '../sorted-list.ts';
import { isLauncher, isUndecided } from './launchers.ts';
import { type Change, keyOf, type Source } from './list-watch.ts';
import type { Pod } from './objects.ts';

/** "namespace/name" in the ledger. */
export const ledgerKeyOf = ({ namespace, ledgerName }: Pick<Pod, 'namespace' | 'ledgerName'>): string =>
  keyOf({ namespace, name: ledgerName });

const claimedKeyOf = ({ namespace, claims }: Pod): string => keyOf({ namespace, name: claims?.name ?? '' });

/** Those of one machine. */
interface Launchers {
  readonly byName: Map<string, Pod>;
  /** First who lives, of these the youngest. */
  readonly inOrder: SortedList<Pod>;
}

export class LedgerPods {
  readonly #pods: Pick<Source<Pod>, 'objects'>;
  /** By their machine's name. */
  readonly #launchers = new Map<string, Launchers>();
  /** All names of each namespace. */
  readonly #names = new Map<string, Set<string>>();
  /** By their machine's name, then by their own: those that may turn out to be a launcher. */
  readonly #claims = new Map<string, Map<string, Pod>>();

  /** To be made before others subscribe to the source, so that they find it up to date. */
  constructor(pods: Pick<Source<Pod>, 'objects' | 'subscribe'>) {
    this.#pods = pods;
    pods.subscribe((change) => {
      if (change.kind !== 'listed') this.#onPod(change);
    });
  }

  #onPod(change: Exclude<Change<Pod>, { kind: 'listed' }>): void {
    const { object } = change;
    const before = change.kind === 'present' ? change.before : object;
    if (before?.claims) this.#claims.get(claimedKeyOf(before))?.delete(before.name);
    if (change.kind === 'gone') this.#drop(object);
    else {
      // Its name in the ledger may have changed.
      if (before && before.ledgerName !== object.ledgerName) this.#drop(before);
      this.#put(object);
    }
    if (change.kind === 'present' && isUndecided(object)) {
      const key = claimedKeyOf(object);
      const claims = this.#claims.get(key) ?? new Map<string, Pod>();
      this.#claims.set(key, claims.set(object.name, object));
    }
    if (before?.claims && this.#claims.get(claimedKeyOf(before))?.size === 0) this.#claims.delete(claimedKeyOf(before));
  }

  /** Whether some Pod claims to be this one, and that was not looked up yet. */
  isClaimed(key: string, identity: string): boolean {
    return [...(this.#claims.get(key)?.values() ?? [])].some(({ claims }) => claims?.uid === identity);
  }

  /** All names that there are. */
  *keys(): Iterable<string> {
    for (const [key, pod] of this.#pods.objects) if (!isLauncher(pod)) yield key;
    yield* this.#launchers.keys();
  }

  /** The names of one namespace. */
  ofNamespace(namespace: string): Iterable<string> {
    return this.#names.get(namespace) ?? [];
  }

  has(key: string): boolean {
    return this.#plain(key) !== undefined || this.#launchers.has(key);
  }

  /** Who is to be served under a name. */
  get(key: string): Pod | undefined {
    const launchers = this.#launchers.get(key);
    return launchers ? this.all(key)[0] : this.#plain(key);
  }

  /** All that are known by a name: first who lives, of these the youngest. */
  all(key: string): readonly Pod[] {
    const own = this.#plain(key);
    const launchers = this.#launchers.get(key)?.inOrder.after(undefined) ?? [];
    return own ? [own, ...launchers].sort(livingThenYoungest) : launchers;
  }

  /** One that is no launcher. */
  #plain(key: string): Pod | undefined {
    const own = this.#pods.objects.get(key);
    return own && !isLauncher(own) ? own : undefined;
  }

  #put(pod: Pod): void {
    const key = ledgerKeyOf(pod);
    const names = this.#names.get(pod.namespace) ?? new Set<string>();
    this.#names.set(pod.namespace, names.add(key));
    if (!isLauncher(pod)) return;
    const { byName, inOrder } = this.#launchers.get(key) ?? {
      byName: new Map<string, Pod>(),
      inOrder: new SortedList<Pod>(livingThenYoungest),
    };
    const before = byName.get(pod.name);
    if (before) inOrder.remove(before);
    byName.set(pod.name, pod);
    inOrder.add(pod);
    this.#launchers.set(key, { byName, inOrder });
  }

  #drop(pod: Pod): void {
    const key = ledgerKeyOf(pod);
    const launchers = this.#launchers.get(key);
    const known = launchers?.byName.get(pod.name);
    if (launchers && known?.uid === pod.uid) {
      launchers.byName.delete(pod.name);
      launchers.inOrder.remove(known);
      if (launchers.byName.size === 0) this.#launchers.delete(key);
    }
    if (this.has(key)) return;
    const names = this.#names.get(pod.namespace);
    names?.delete(key);
    if (names?.size === 0) this.#names.delete(pod.namespace);
  }
}

function livingThenYoungest(one: Pod, other: Pod): number {
  const lives = ({ phase, deletionTimestamp }: Pod): number =>
    deletionTimestamp === '' && phase !== 'Succeeded' && phase !== 'Failed' ? 0 : 1;
  return lives(one) - lives(other) || compare(other.createdAt, one.createdAt) || compare(one.name, other.name);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
