/**
 * Runs `work` for each item, in order, with at most `limit` at a time.
 *
 * @throws the error of the first call that fails. The other calls continue.
 */
export async function forEachConcurrent<Item>(
  items: Iterable<Item>,
  limit: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const remaining = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = remaining.next(); !next.done; next = remaining.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}
