/** Allocations by a name that follows from each of them, such as the name of its Pod. */
import { type NamespacedName, NamespacedMap } from '../namespaced-map.ts';
import { keyOf } from '../../../lib/kubernetes/client/informer.ts';
import { type HeldAllocation, type LedgerEvent, podKeyOf } from './ledger-events.ts';

export class AllocationIndex {
  readonly #nameOf: (allocation: HeldAllocation) => NamespacedName;
  /** The allocations by name. Nearly all names have one allocation, which needs no list. */
  readonly #allocations = new NamespacedMap<HeldAllocation | readonly HeldAllocation[]>();

  /** @param nameOf must return the same name each time */
  constructor(nameOf: (allocation: HeldAllocation) => NamespacedName) {
    this.#nameOf = nameOf;
  }

  /** Yields the keys (`keyOf`) of all names with an allocation. */
  *keys(): Iterable<string> {
    for (const [namespace, name] of this.#allocations.entries()) yield keyOf({ namespace, name });
  }

  *values(): Iterable<HeldAllocation> {
    for (const [, , stored] of this.#allocations.entries()) yield* asList(stored);
  }

  /** Returns the allocations of a name, oldest first. */
  of(key: string): readonly HeldAllocation[] {
    return asList(this.#allocations.get(key));
  }

  /**
   * Returns the allocation of a binding with its interface and Node; undefined if the index, which
   * is by Pod, does not have it.
   */
  bound(event: Extract<LedgerEvent, { kind: 'bound' }>): HeldAllocation | undefined {
    const allocation = this.of(podKeyOf(event)).find(({ seq }) => seq === event.seq);
    return allocation && { ...allocation, interface: event.interface, node: event.node };
  }

  /** Adds an allocation, or replaces the allocation with its seq. */
  put(allocation: HeldAllocation): void {
    const name = this.#nameOf(allocation);
    const others = this.of(keyOf(name)).filter(({ seq }) => seq !== allocation.seq);
    this.#store(
      name,
      [...others, allocation].sort((one, other) => one.seq - other.seq),
    );
  }

  /** Removes the allocation of a name that has this seq. Returns it; undefined if there is none. */
  remove(key: string, seq: number): HeldAllocation | undefined {
    const all = this.of(key);
    const removed = all.find((each) => each.seq === seq);
    if (!removed) return undefined;
    if (all.length === 1) this.#allocations.delete(key);
    else
      this.#store(
        this.#nameOf(removed),
        all.filter((each) => each !== removed),
      );
    return removed;
  }

  clear(): void {
    this.#allocations.clear();
  }

  #store(name: NamespacedName, all: readonly HeldAllocation[]): void {
    const [only] = all;
    this.#allocations.set(name, only && all.length === 1 ? only : all);
  }
}

const asList = (stored: HeldAllocation | readonly HeldAllocation[] | undefined): readonly HeldAllocation[] =>
  stored === undefined ? [] : 'seq' in stored ? [stored] : stored;
