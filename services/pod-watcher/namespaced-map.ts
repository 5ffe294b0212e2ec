/** Values by namespace and name, because a joined key would take as much memory as a value. */
import { keyOf } from '../../lib/kubernetes/client/informer.ts';

/** The name of a value; the namespace is "" for a cluster-scoped object. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

export class NamespacedMap<Value> {
  readonly #namespaces = new Map<string, Map<string, Value>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): Value | undefined {
    return this.#namespaces.get(namespaceOf(key))?.get(nameOf(key));
  }

  has(key: string): boolean {
    return this.#namespaces.get(namespaceOf(key))?.has(nameOf(key)) === true;
  }

  /** Keeps both texts, so the caller should pass the texts that the value has itself. */
  set({ namespace, name }: NamespacedName, value: Value): void {
    const values = this.#namespaces.get(namespace) ?? new Map<string, Value>();
    if (!values.has(name)) this.#size++;
    this.#namespaces.set(namespace, values.set(name, value));
  }

  delete(key: string): boolean {
    const namespace = namespaceOf(key);
    const values = this.#namespaces.get(namespace);
    if (values?.delete(nameOf(key)) !== true) return false;
    if (values.size === 0) this.#namespaces.delete(namespace);
    this.#size--;
    return true;
  }

  clear(): void {
    this.#namespaces.clear();
    this.#size = 0;
  }

  *entries(): Generator<[namespace: string, name: string, value: Value], undefined> {
    for (const [namespace, values] of this.#namespaces)
      for (const [name, value] of values) yield [namespace, name, value];
  }

  *keysOf(namespace: string): Generator<string, undefined> {
    for (const name of this.#namespaces.get(namespace)?.keys() ?? []) yield keyOf({ namespace, name });
  }
}

/** Returns the namespace in a key (`keyOf`); "" if it has none. */
export const namespaceOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')));

/** Returns the name in a key (`keyOf`). */
export const nameOf = (key: string): string => key.slice(key.indexOf('/') + 1);
