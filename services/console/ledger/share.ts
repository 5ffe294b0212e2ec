/** Shares reads between viewers: equal reads at the same time cause one call. */

/** Returns a read whose result is at most `maxAgeMs` old. A failure is not kept. */
export function shareFor<Value>(maxAgeMs: number, read: () => Promise<Value>): () => Promise<Value> {
  let latest: { readonly value: Promise<Value>; readonly at: number } | undefined;
  return () => {
    const now = performance.now();
    if (latest && now - latest.at < maxAgeMs) return latest.value;
    const started = { value: read(), at: now };
    latest = started;
    started.value.catch(() => {
      if (latest === started) latest = undefined;
    });
    return started.value;
  };
}

/**
 * Shares a read for each key, with at most `maxKeys` results.
 * @param maxAgeMs the age of the result of a key
 */
export function shareByKey<Value>(
  maxKeys: number,
  maxAgeMs: (key: string) => number,
  read: (key: string) => Promise<Value>,
): (key: string) => Promise<Value> {
  const shared = new Map<string, () => Promise<Value>>();
  return (key) => {
    const one = shared.get(key) ?? shareFor(maxAgeMs(key), () => read(key));
    shared.delete(key);
    shared.set(key, one);
    for (const oldest of shared.keys())
      if (shared.size > maxKeys) shared.delete(oldest);
      else break;
    return one();
  };
}
