/** Limits the pages of replies by bytes as well as by count. */

/** Less than 4 MiB, the default limit of gRPC clients, because `estimateBytes` is not exact. */
export const maxPageBytes = 3 << 20;

/** Estimates the bytes of a value in a reply. Takes time linear in its size. */
export function estimateBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 4;
  if (typeof value !== 'object' || value === null) return 8;
  let sum = 4;
  for (const inner of Object.values(value)) sum += estimateBytes(inner);
  return sum;
}

/** The number of first items that fit into one page: at least one, if there are any. */
export function countFitting<Item>(items: readonly Item[], weigh: (item: Item) => number = estimateBytes): number {
  let bytes = 0;
  const firstOver = items.findIndex((item) => (bytes += weigh(item)) > maxPageBytes);
  return firstOver === -1 ? items.length : Math.max(1, firstOver);
}
