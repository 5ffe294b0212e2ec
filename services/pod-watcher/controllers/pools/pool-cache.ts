/** The IPPools in force in the ledger, by name, and those that serve a namespace's Pods. */
import { addTo, removeFrom } from '../../../../lib/maps.ts';
import type { LedgerEvent, AppliedPool } from '../../ledger/ledger-events.ts';
import type { LedgerSubscriber, LedgerSnapshot } from '../../ledger/ledger-subscriber.ts';
import type { ClusterView } from '../cluster-view.ts';

export class PoolCache implements LedgerSubscriber {
  readonly #pools = new Map<string, AppliedPool>();
  /** The names of the IPPools that name a namespace, by namespace. */
  readonly #byNamespace = new Map<string, Set<string>>();
  readonly #refusals = new Map<string, string>();
  readonly #isEmpty: (name: string) => boolean;

  /** @param isEmpty whether a pool has no free address; may lag behind */
  constructor(isEmpty: (name: string) => boolean) {
    this.#isEmpty = isEmpty;
  }

  get clusterView(): ClusterView['pools'] {
    return {
      subnetOf: (name) => this.#pools.get(name)?.spec.subnet,
      namespacesOf: (name) => this.#pools.get(name)?.spec.namespaces ?? [],
      whyNot: (name) => this.#whyNot(name),
      ofNamespace: (namespace, listed) => this.#ofNamespace(namespace, listed),
    };
  }

  get(name: string): AppliedPool | undefined {
    return this.#pools.get(name);
  }

  names(): string[] {
    return [...this.#pools.keys()];
  }

  /** The pools that name a namespace, sorted by name. */
  poolsOfNamespace(namespace: string): string[] {
    return [...(this.#byNamespace.get(namespace) ?? [])].sort();
  }

  /** Records that the allocator rejected a spec. The earlier spec remains in force. */
  refused(name: string, why: string): void {
    this.#refusals.set(name, why);
  }

  /** Records that the allocator accepted the spec, or that the object was deleted. */
  accepted(name: string): void {
    this.#refusals.delete(name);
  }

  onSnapshot({ pools }: LedgerSnapshot): void {
    this.#pools.clear();
    this.#byNamespace.clear();
    for (const pool of pools) this.#put(pool);
  }

  onEvents(events: readonly LedgerEvent[]): void {
    for (const event of events) {
      if (event.kind === 'pool-configured') this.#put(event.pool);
      else if (event.kind === 'pool-retired') this.#drop(event.pool);
    }
  }

  #put(pool: AppliedPool): void {
    this.#drop(pool.name);
    this.#pools.set(pool.name, pool);
    for (const namespace of pool.spec.namespaces) addTo(this.#byNamespace, namespace, pool.name);
  }

  #drop(name: string): void {
    for (const namespace of this.#pools.get(name)?.spec.namespaces ?? [])
      removeFrom(this.#byNamespace, namespace, name);
    this.#pools.delete(name);
  }

  #whyNot(name: string): string {
    const refusal = this.#refusals.get(name);
    return refusal === undefined
      ? `there is no IPPool ${name}, or it is not in force`
      : `IPPool ${name} is not in force: ${refusal}`;
  }

  /** Returns the pools that the namespace lists, then those that name it; empty pools last. */
  #ofNamespace(namespace: string, listed: readonly string[]): string[] {
    const names = [...listed.filter((name) => this.#pools.has(name)), ...this.poolsOfNamespace(namespace)];
    const pools = Array.from(new Set(names), (name) => ({ name, isEmpty: this.#isEmpty(name) }));
    const sorted = [...pools.filter(({ isEmpty }) => !isEmpty), ...pools.filter(({ isEmpty }) => isEmpty)];
    return sorted.map(({ name }) => name);
  }
}
