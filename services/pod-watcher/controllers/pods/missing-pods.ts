/**
 * Finds Pods that hold addresses and are missing from the API without a deletion. While they are
 * most of a namespace or of the cluster, the affected namespaces are halted: an API server may have
 * lost data. Before that, the watcher requests from the API server what it deleted.
 *
 * A check visits the names that changed since the last check, and the namespaces that miss Pods.
 */
import { addTo, removeFrom } from '../../../../lib/maps.ts';
import type { LedgerPods } from '../../kubernetes/ledger-pods.ts';
import { allObjects, MassDeletionGuard, type ScopeCounts } from '../mass-deletion-guard.ts';
import { namespaceOf } from '../../namespaced-map.ts';
import type { AllocationCache } from './allocation-cache.ts';

export interface MissingPodsOptions {
  readonly pods: Pick<LedgerPods, 'has'>;
  readonly allocations: Pick<AllocationCache, 'podKeys' | 'uids' | 'uidCount' | 'uidCountOf'>;
  /** Whether the API has no Pod of this name, and no deletion, owner or launcher explains it. */
  readonly isUnexplained: (key: string) => boolean;
  /** Looks for explanations why these names have no Pod. */
  readonly explain: (missing: ReadonlySet<string>) => Promise<void>;
  /** The number of missing Pods when an earlier watcher halted a scope, by scope of the guard. */
  readonly haltedBefore?: Readonly<Record<string, number>>;
  /** The namespace of the Lease on which an operator accepts a mass deletion. */
  readonly leaseNamespace: string;
  /** Raises the alarm that releases are halted; undefined clears it. */
  readonly alarm: (message: string | undefined) => void;
}

const checkMs = 1_000;
const minPods = 20;
/** The number of names and namespaces that an alarm lists. */
const maxListed = 3;

export class MissingPods {
  readonly #options: MissingPodsOptions;
  readonly #guard: MassDeletionGuard;
  /** Names whose Pod, allocations or explanation may have changed since the last check. */
  readonly #changed = new Set<string>();
  /** Names that hold allocations, but have no Pod. */
  readonly #absent = new Set<string>();
  /** Names without a Pod and without an explanation, by namespace. */
  readonly #missing = new Map<string, Set<string>>();
  /** Scopes whose deletions were requested since they were last plausible. */
  readonly #requested = new Set<string>();
  #explaining: Promise<void> | undefined;
  /** The namespaces in which nothing is released. */
  #halted: ReadonlySet<string> = new Set();
  #isClusterHalted = false;
  #isAlarmed = false;
  #checkedAt = -Infinity;

  constructor(options: MissingPodsOptions) {
    this.#options = options;
    this.#guard = new MassDeletionGuard({ minObjects: minPods, haltedBefore: options.haltedBefore ?? {} });
  }

  /** The number of missing Pods, by halted scope. */
  get halted(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#guard.halted);
  }

  /**
   * The scopes whose missing Pods an operator accepted as deleted, and that have not recovered yet.
   */
  get accepted(): readonly string[] {
    return this.#guard.accepted;
  }

  /** Whether so many Pods of the cluster are missing that the others may be in an old state. */
  get isClusterHalted(): boolean {
    return this.#isClusterHalted;
  }

  /** The names that hold allocations and had no Pod at the last check. */
  get absent(): ReadonlySet<string> {
    return this.#absent;
  }

  isHalted(namespace: string): boolean {
    if (performance.now() - this.#checkedAt > checkMs) this.check();
    return this.#halted.has(namespace);
  }

  /** Marks a name whose Pod, allocations or explanation may have changed. */
  onChanged(key: string): void {
    // Skips a name that has its Pod, and had it at the last check. Otherwise most names of a
    // cluster are kept until the next check, which only a deletion causes.
    if (this.#absent.has(key) || !this.#options.pods.has(key)) this.#changed.add(key);
  }

  /** Accepts that up to these numbers of Pods were deleted, by scope. */
  accept(accepted: Readonly<Record<string, number>>): void {
    this.#guard.accept(accepted);
    this.check();
  }

  /** Marks all names of the ledger. Called at the start, and after a snapshot. */
  scan(): void {
    for (const key of this.#absent) this.#changed.add(key);
    for (const key of this.#options.allocations.podKeys()) this.#changed.add(key);
    this.check();
  }

  /** Resolves when the deletions of Pods that were missing at the start are known. */
  async prepare(): Promise<void> {
    this.scan();
    await this.#explaining;
  }

  /** Halts or resumes namespaces, depending on how many Pods are missing. */
  check(): void {
    this.#checkedAt = performance.now();
    for (const key of this.#changed) this.#classify(key);
    this.#changed.clear();
    const counts = this.#counts();
    const suspect = new Set(
      [...counts].filter(([scope, each]) => this.#guard.mustHalt(scope, each)).map(([scope]) => scope),
    );
    const unrequested = [...suspect].filter((scope) => !this.#guard.halted.has(scope) && !this.#requested.has(scope));
    for (const scope of this.#requested) if (!suspect.has(scope)) this.#requested.delete(scope);
    if (unrequested.length > 0) this.#request(unrequested);
    // Halts suspect scopes without an alarm until the API server has answered.
    if (!this.#explaining) for (const [scope, each] of counts) this.#guard.update(scope, each);
    this.#isClusterHalted = suspect.has(allObjects);
    this.#halted = this.#concerned(suspect);
    if (!this.#explaining) this.#raise(counts);
  }

  /** Records whether a name is absent, and whether it is missing. */
  #classify(key: string): void {
    const { pods, allocations, isUnexplained } = this.#options;
    const isAbsent = !pods.has(key) && allocations.uids(key).length > 0;
    if (isAbsent) this.#absent.add(key);
    else this.#absent.delete(key);
    if (isAbsent && isUnexplained(key)) addTo(this.#missing, namespaceOf(key), key);
    else removeFrom(this.#missing, namespaceOf(key), key);
  }

  /**
   * Requests explanations for scopes. While other scopes are explained, these wait for the next
   * check, because their names are not looked up.
   */
  #request(scopes: readonly string[]): void {
    if (this.#explaining) return;
    for (const scope of scopes) this.#requested.add(scope);
    const missing = new Set([...this.#missing.values()].flatMap((keys) => [...keys]));
    this.#explaining = this.#options.explain(missing).finally(() => {
      this.#explaining = undefined;
      this.check();
    });
  }

  /** Counts namespaces with missing Pods, halted ones, and all but accepted ones, by scope. */
  #counts(): Map<string, ScopeCounts> {
    const { allocations } = this.#options;
    const namespaces = new Set([...this.#guard.halted.keys(), ...this.#guard.accepted, ...this.#missing.keys()]);
    namespaces.delete(allObjects);
    const counts = new Map<string, ScopeCounts>();
    let all = 0;
    for (const namespace of namespaces) {
      const missing = this.#missing.get(namespace)?.size ?? 0;
      counts.set(namespace, { missing, expected: allocations.uidCountOf(namespace) });
      if (!this.#guard.isAccepted(namespace, missing)) all += missing;
    }
    return counts.set(allObjects, { missing: all, expected: allocations.uidCount });
  }

  /** Returns namespaces of halted scopes; if the cluster is halted, all that miss a Pod. */
  #concerned(scopes: ReadonlySet<string>): ReadonlySet<string> {
    const namespaces = new Set(scopes);
    if (!namespaces.delete(allObjects)) return namespaces;
    for (const [namespace, keys] of this.#missing)
      if (!this.#guard.isAccepted(namespace, keys.size)) namespaces.add(namespace);
    return namespaces;
  }

  #raise(counts: ReadonlyMap<string, ScopeCounts>): void {
    const { alarm, leaseNamespace } = this.#options;
    const [first] = this.#guard.halted.has(allObjects) ? [allObjects] : this.#guard.halted.keys();
    const worst = first === undefined ? undefined : counts.get(first);
    if (first !== undefined && worst) {
      const isAll = first === allObjects;
      const [of, halted] = [isAll ? '' : ` of namespace ${first}`, [...this.#halted].toSorted()];
      const more = halted.length > maxListed ? ` and ${halted.length - maxListed} more` : '';
      alarm(
        `${worst.missing} of ${worst.expected} Pods${of} that hold addresses are missing from the Kubernetes API all at the same time (${this.#examples(first).join(', ')}, …); ` +
          `nothing is released in namespace ${halted.slice(0, maxListed).join(', ')}${more}. ` +
          `If the API server lost its data, restore it; if the Pods are really deleted, run: ipledger accept-mass-deletion --namespace ${leaseNamespace} --reason TEXT`,
      );
    } else if (this.#isAlarmed) alarm(undefined);
    this.#isAlarmed = first !== undefined;
  }

  /** Returns some missing names of a scope. */
  #examples(scope: string): string[] {
    const examples: string[] = [];
    for (const keys of scope === allObjects ? this.#missing.values() : [this.#missing.get(scope) ?? []])
      for (const key of keys) if (examples.push(key) === maxListed) return examples;
    return examples;
  }
}
