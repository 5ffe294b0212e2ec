/** The IPPools that the ledger has in force, by name, and which of them a namespace's Pods draw from. */
import type { Fact, PoolInForce } from '../ledger/facts.ts';
import type { Reader, Snapshot } from '../ledger/follow.ts';
import type { Sight } from './sight.ts';

export class PoolsInForce implements Reader {
  readonly #pools = new Map<string, PoolInForce>();
  /** Names of pools, by the namespaces that they are for. */
  readonly #byNamespace = new Map<string, Set<string>>();
  readonly #refusals = new Map<string, string>();
  readonly #isEmpty: (name: string) => boolean;

  /** @param isEmpty whether a pool is known to have no address left; it may lag behind. */
  constructor(isEmpty: (name: string) => boolean) {
    this.#isEmpty = isEmpty;
  }

  /** What a plan needs to know. */
  get sight(): Sight['pools'] {
    return {
      subnetOf: (name) => this.#pools.get(name)?.spec.subnet,
      namespacesOf: (name) => this.#pools.get(name)?.spec.namespaces ?? [],
      whyNot: (name) => this.#whyNot(name),
      ofNamespace: (namespace, listed) => this.#ofNamespace(namespace, listed),
    };
  }

  /** The pool as the ledger has it. */
  get(name: string): PoolInForce | undefined {
    return this.#pools.get(name);
  }

  /** All names that the ledger has. */
  names(): string[] {
    return [...this.#pools.keys()];
  }

  /** Those that are for a namespace, by name. */
  naming(namespace: string): string[] {
    return [...(this.#byNamespace.get(namespace) ?? [])].sort();
  }

  /** The ledger refused what an IPPool says; what was in force before, stays. */
  refused(name: string, why: string): void {
    this.#refusals.set(name, why);
  }

  /** Nothing of this name is refused any more. */
  accepted(name: string): void {
    this.#refusals.delete(name);
  }

  snapshot({ pools }: Snapshot): void {
    this.#pools.clear();
    this.#byNamespace.clear();
    for (const pool of pools) this.#put(pool);
  }

  facts(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.kind === 'pool-configured') this.#put(fact.pool);
      else if (fact.kind === 'pool-retired') this.#drop(fact.pool);
    }
  }

  #put(pool: PoolInForce): void {
    this.#drop(pool.name);
    this.#pools.set(pool.name, pool);
    for (const namespace of pool.spec.namespaces) {
      const names = this.#byNamespace.get(namespace) ?? new Set<string>();
      this.#byNamespace.set(namespace, names.add(pool.name));
    }
  }

  #drop(name: string): void {
    for (const namespace of this.#pools.get(name)?.spec.namespaces ?? []) {
      const names = this.#byNamespace.get(namespace);
      names?.delete(name);
      if (names?.size === 0) this.#byNamespace.delete(namespace);
    }
    this.#pools.delete(name);
  }

  #whyNot(name: string): string {
    const refusal = this.#refusals.get(name);
    return refusal === undefined
      ? `there is no IPPool ${name}, or it is not in force`
      : `IPPool ${name} is not in force: ${refusal}`;
  }

  /** The namespace's own list, then those that name it, by name; those that are empty come last. */
  #ofNamespace(namespace: string, listed: readonly string[]): string[] {
    const names = [...listed.filter((name) => this.#pools.has(name)), ...this.naming(namespace)];
    const once = Array.from(new Set(names), (name) => ({ name, empty: this.#isEmpty(name) }));
    return [...once.filter(({ empty }) => !empty), ...once.filter(({ empty }) => empty)].map(({ name }) => name);
  }
}
