/**
 * Pods by the name under which the ledger knows them. Most have it to themselves. The launchers of a virtual machine share the
 * machine's: while it moves there are two, and both show the same addresses.
 */
import { isLauncher, isUndecided } from './launchers.ts';
import { type Change, keyOf, type Source } from './list-watch.ts';
import type { Pod } from './objects.ts';

/** "namespace/name" in the ledger. */
export const ledgerKeyOf = ({ namespace, ledgerName }: Pick<Pod, 'namespace' | 'ledgerName'>): string =>
  keyOf({ namespace, name: ledgerName });

const claimedKeyOf = ({ namespace, claims }: Pod): string => keyOf({ namespace, name: claims?.name ?? '' });

export class LedgerPods {
  readonly #pods: Pick<Source<Pod>, 'objects'>;
  /** By their machine's name, then by their own. */
  readonly #launchers = new Map<string, Map<string, Pod>>();
  /** Those that may turn out to be a launcher; in the same way. */
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
    if (change.kind === 'gone') {
      if (isLauncher(object)) this.#drop(object);
    } else if (isLauncher(object)) this.#put(object);
    else if (isUndecided(object)) {
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

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Who is to be served under a name. */
  get(key: string): Pod | undefined {
    return this.all(key)[0];
  }

  /** All that are known by a name: first who lives, of these the youngest. */
  all(key: string): readonly Pod[] {
    const own = this.#pods.objects.get(key);
    const plain = own && !isLauncher(own) ? [own] : [];
    const launchers = this.#launchers.get(key);
    return launchers ? [...plain, ...launchers.values()].sort(livingThenYoungest) : plain;
  }

  #put(pod: Pod): void {
    const key = ledgerKeyOf(pod);
    const launchers = this.#launchers.get(key) ?? new Map<string, Pod>();
    this.#launchers.set(key, launchers.set(pod.name, pod));
  }

  #drop(pod: Pod): void {
    const launchers = this.#launchers.get(ledgerKeyOf(pod));
    if (launchers?.get(pod.name)?.uid === pod.uid) launchers.delete(pod.name);
    if (launchers?.size === 0) this.#launchers.delete(ledgerKeyOf(pod));
  }
}

function livingThenYoungest(one: Pod, other: Pod): number {
  const lives = ({ phase, deletionTimestamp }: Pod): number =>
    deletionTimestamp === '' && phase !== 'Succeeded' && phase !== 'Failed' ? 0 : 1;
  return lives(one) - lives(other) || (one.createdAt < other.createdAt ? 1 : -1);
}
