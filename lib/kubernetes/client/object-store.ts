/** Where an informer keeps its objects: a Map, or a store that takes less memory. */

/** The metadata that identifies an object. */
export interface ObjectMeta {
  /** "" for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** The key of an object in a store: "namespace/name", or "name". */
export function keyOf({ namespace, name }: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/**
 * Objects by key (`keyOf`). A Map is one. A look-up may return an equal object instead of the one
 * that was stored.
 */
export interface ObjectStore<T> extends ReadonlyMap<string, T> {
  set(key: string, object: T): unknown;
  delete(key: string): unknown;
  /** The keys of the objects of a namespace, if the store has an index of them. */
  keysOf?(namespace: string): Iterable<string>;
}

/** The keys of the objects of a namespace. */
export function* keysOfNamespace(
  objects: Pick<ObjectStore<unknown>, 'keys' | 'keysOf'>,
  namespace: string,
): Iterable<string> {
  if (objects.keysOf) yield* objects.keysOf(namespace);
  else for (const key of objects.keys()) if (key.startsWith(`${namespace}/`)) yield key;
}
