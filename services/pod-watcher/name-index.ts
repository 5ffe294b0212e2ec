/** Sets of names, or of uids, by a key. An empty set is removed. */

export function addTo(index: Map<string, Set<string>>, key: string, name: string): void {
  const names = index.get(key);
  if (names) names.add(name);
  else index.set(key, new Set([name]));
}

export function removeFrom(index: Map<string, Set<string>>, key: string, name: string): void {
  const names = index.get(key);
  if (names?.delete(name) && names.size === 0) index.delete(key);
}
