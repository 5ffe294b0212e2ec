/**
 * Indexes Pods by their name in the ledger. The launchers of a virtual machine share the name of
 * the machine: during a live migration there are two, and both show the same addresses.
 */
import { SortedList } from '../sorted-list.ts';
import { isLauncher, type VerifiedPods } from './launcher-verifier.ts';
import { type ObjectChange, keyOf, type Informer } from '../../../lib/kubernetes/client/informer.ts';
import { keysOfNamespace } from '../../../lib/kubernetes/client/object-store.ts';
import { launcherPrefix } from '../../../lib/kubernetes/pod-identity.ts';
import { isTerminated, type Pod } from './objects/pod.ts';

/** Returns the name of a Pod in the ledger, "namespace/name". */
export const ledgerKeyOf = ({ namespace, ledgerName }: Pick<Pod, 'namespace' | 'ledgerName'>): string =>
  keyOf({ namespace, name: ledgerName });

const assertedKeyOf = ({ namespace, assertedMachine }: Pod): string =>
  keyOf({ namespace, name: assertedMachine?.name ?? '' });

/** The launchers of one machine. */
interface Launchers {
  readonly byName: Map<string, Pod>;
  /** The launchers: running Pods first, the newest of them first. */
  readonly inOrder: SortedList<Pod>;
}

export class LedgerPods {
  readonly #pods: { readonly objects: VerifiedPods };
  /** The launchers by the name of their machine. */
  readonly #launchers = new Map<string, Launchers>();
  /** Pods without a verified claim, by the claimed machine and their own name. */
  readonly #claimants = new Map<string, Map<string, Pod>>();

  /** Must be created before other subscribers of `pods`, which rely on its updates. */
  constructor(pods: Pick<Informer<Pod>, 'subscribe'> & { readonly objects: VerifiedPods }) {
    this.#pods = pods;
    pods.subscribe((change) => {
      if (change.kind !== 'listed') this.#onPod(change);
    });
  }

  #onPod(change: Exclude<ObjectChange<Pod>, { kind: 'listed' }>): void {
    const { object } = change;
    const before = change.kind === 'present' ? change.before : object;
    if (before?.assertedMachine) this.#claimants.get(assertedKeyOf(before))?.delete(before.name);
    if (change.kind === 'gone') this.#drop(object);
    else {
      // Moves a launcher whose verification has changed its name in the ledger.
      if (before && before.ledgerName !== object.ledgerName) this.#drop(before);
      this.#put(object);
    }
    if (change.kind === 'present' && object.assertedMachine && !isLauncher(object)) {
      const key = assertedKeyOf(object);
      const claimants = this.#claimants.get(key) ?? new Map<string, Pod>();
      this.#claimants.set(key, claimants.set(object.name, object));
    }
    if (before?.assertedMachine && this.#claimants.get(assertedKeyOf(before))?.size === 0)
      this.#claimants.delete(assertedKeyOf(before));
  }

  /** Whether a Pod claims this identity, and was neither verified nor refused. */
  hasUnverifiedLauncher(key: string, identity: string): boolean {
    return this.#claimantsOf(key, identity).some(({ launcherRefusal }) => launcherRefusal === '');
  }

  /** The uids of Pods that run, and whose claim of this identity was refused. */
  refusedLaunchers(key: string, identity: string): readonly string[] {
    return this.#claimantsOf(key, identity)
      .filter((pod) => pod.launcherRefusal !== '' && !isTerminated(pod))
      .map(({ uid }) => uid);
  }

  #claimantsOf(key: string, identity: string): readonly Pod[] {
    const claimants = [...(this.#claimants.get(key)?.values() ?? [])];
    return claimants.filter(({ assertedMachine }) => assertedMachine?.uid === identity);
  }

  /** Yields all names in the ledger. */
  *keys(): Iterable<string> {
    for (const key of this.#pods.objects.keys()) if (this.#hasPlain(key)) yield key;
    yield* this.#launchers.keys();
  }

  /** Yields the names of one namespace. */
  *ofNamespace(namespace: string): Iterable<string> {
    for (const key of keysOfNamespace(this.#pods.objects, namespace)) if (this.#hasPlain(key)) yield key;
    for (const key of this.#launchers.keys()) if (key.startsWith(`${namespace}/`)) yield key;
  }

  has(key: string): boolean {
    return this.#hasPlain(key) || this.#launchers.has(key);
  }

  /** Returns the Pod that gets the allocations of a name. */
  get(key: string): Pod | undefined {
    const launchers = this.#launchers.get(key);
    return launchers ? this.all(key)[0] : this.#plain(key);
  }

  /** Returns all Pods of a name: running Pods first, the newest first, host-network Pods last. */
  all(key: string): readonly Pod[] {
    const own = this.#plain(key);
    const launchers = this.#launchers.get(key)?.inOrder.after(undefined) ?? [];
    return own ? [own, ...launchers].sort(runningThenNewest) : launchers;
  }

  /** Whether a Pod is not a launcher. Reads it only if its name may be a launcher's. */
  #hasPlain(key: string): boolean {
    if (!key.includes(`/${launcherPrefix}`)) return this.#pods.objects.has(key);
    return this.#plain(key) !== undefined;
  }

  /** Returns the Pod of this name, unless it is a launcher. */
  #plain(key: string): Pod | undefined {
    const own = this.#pods.objects.get(key);
    return own && !isLauncher(own) ? own : undefined;
  }

  #put(pod: Pod): void {
    if (!isLauncher(pod)) return;
    const key = ledgerKeyOf(pod);
    const { byName, inOrder } = this.#launchers.get(key) ?? {
      byName: new Map<string, Pod>(),
      inOrder: new SortedList<Pod>(runningThenNewest),
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
  }
}

/** Puts a Pod on the network of its node last: it needs no address, and a launcher may need one. */
function runningThenNewest(one: Pod, other: Pod): number {
  const isRunning = (pod: Pod): boolean => pod.deletionTimestamp === '' && !isTerminated(pod);
  const rank = (pod: Pod): number => (pod.hostNetwork ? 2 : isRunning(pod) ? 0 : 1);
  return rank(one) - rank(other) || compare(other.createdAt, one.createdAt) || compare(one.name, other.name);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
