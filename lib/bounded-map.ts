/** Bounds a map that is a cache: the oldest entry makes room for the newest. */

/** Stores an entry as the newest one, and removes the oldest beyond the limit. */
export function storeNewest<Value>(entries: Map<string, Value>, key: string, value: Value, maxEntries: number): void {
  entries.delete(key);
  entries.set(key, value);
  const [oldest] = entries.keys();
  if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest);
}
