/** The size of a page in a reply: limited by bytes as well as by count. */

/** Below 4 MiB, the default limit of a gRPC client: `estimateBytes` is not exact. */
export const maxPageBytes = 3 << 20;

/** Estimates the bytes that a message or one of its values takes in a reply. Linear in its size. */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 4;
  if (typeof value !== 'object' || value === null) return 8;
  let sum = 4;
  for (const inner of Object.values(value)) sum += estimateBytes(inner);
  return sum;
}

/** Returns how many of the first items fit into one page: at least one, unless there are none. */
export function countFitting<Item>(items: readonly Item[], weigh: (item: Item) => number = estimateBytes): number {
  let bytes = 0;
  const firstOver = items.findIndex((item) => (bytes += weigh(item)) > maxPageBytes);
  return firstOver === -1 ? items.length : Math.max(1, firstOver);
}
