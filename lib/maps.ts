/** Maps with a set of values for each key, and maps of limited size. */

export function addTo<Key, Value>(index: Map<Key, Set<Value>>, key: Key, value: Value): void {
  const values = index.get(key);
  if (values) values.add(value);
  else index.set(key, new Set([value]));
}

/** Removes a value from the set of a key, and the set if it is then empty. */
export function removeFrom<Key, Value>(index: Map<Key, Set<Value>>, key: Key, value: Value): void {
  const values = index.get(key);
  if (values?.delete(value) && values.size === 0) index.delete(key);
}

/** Stores an entry as the newest, and removes the oldest entries beyond the limit. */
export function storeNewest<Key, Value>(entries: Map<Key, Value>, key: Key, value: Value, maxEntries: number): void {
  entries.delete(key);
  entries.set(key, value);
  for (const oldest of entries.keys())
    if (entries.size > maxEntries) entries.delete(oldest);
    else break;
}
