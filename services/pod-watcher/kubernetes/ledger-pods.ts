/**
 * Pods by the name under which the ledger knows them. Most have it to themselves. The launchers of a virtual machine share the
 * machine's: while it moves there are two, and both show the same addresses.
 */
import { SortedList } from '../sorted-list.ts';
import { keyOf, type Source } from './list-watch.ts';
import type { Pod } from './objects.ts';

/** "namespace/name" in the ledger. */
export const ledgerKeyOf = ({ namespace, ledgerName }: Pick<Pod, 'namespace' | 'ledgerName'>): string =>
  keyOf({ namespace, name: ledgerName });

const isLauncher = ({ name, ledgerName }: Pod): boolean => name !== ledgerName;

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

  /** To be made before others subscribe to the source, so that they find it up to date. */
  constructor(pods: Pick<Source<Pod>, 'objects' | 'subscribe'>) {
    this.#pods = pods;
    pods.subscribe((change) => {
      if (change.kind === 'listed') return;
      if (change.kind === 'gone') return this.#drop(change.object);
      const { object, before } = change;
      // Its owner may have been edited, and with that its name in the ledger.
      if (before && before.ledgerName !== object.ledgerName) this.#drop(before);
      this.#put(object);
    });
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
