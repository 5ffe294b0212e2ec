/** How much a page of a reply holds: bounded by bytes as well as by count, however large its items are. */

/** Below 4 MiB, which is as much as a gRPC client takes unless it is told otherwise: weights are estimates. */
export const mostPageBytes = 3 << 20;

/** About how many bytes a message, or what it is made of, takes in a reply. Linear in its size. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 4;
  if (typeof value !== 'object' || value === null) return 8;
  let sum = 4;
  for (const inner of Object.values(value)) sum += weightOf(inner);
  return sum;
}

/** How many of the first items fill a page; all, or at least one. */
export function countFitting<Item>(items: readonly Item[], weigh: (item: Item) => number = weightOf): number {
  let bytes = 0;
  const over = items.findIndex((item) => (bytes += weigh(item)) > mostPageBytes);
  return over === -1 ? items.length : Math.max(1, over);
}
