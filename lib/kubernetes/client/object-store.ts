/** The store of an informer's objects: a Map, or a store that takes less memory. */

/** The metadata that identifies an object. */
export interface ObjectMeta {
  /** The namespace; "" for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export function keyOf({ namespace, name }: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/**
 * Objects by key (`keyOf`), for example a Map. A look-up may return an equal object instead of the
 * stored one.
 */
export interface ObjectStore<T> extends ReadonlyMap<string, T> {
  set(key: string, object: T): unknown;
  delete(key: string): unknown;
  /** The keys of a namespace's objects, if the store has an index of them. */
  keysOf?(namespace: string): Iterable<string>;
}

export function* keysOfNamespace(
  objects: Pick<ObjectStore<unknown>, 'keys' | 'keysOf'>,
  namespace: string,
): Iterable<string> {
  if (objects.keysOf) yield* objects.keysOf(namespace);
  else for (const key of objects.keys()) if (key.startsWith(`${namespace}/`)) yield key;
}
