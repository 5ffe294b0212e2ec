/**
 * Runs `work` for each item, in order, with at most `limit` at a time.
 *
 * @throws the error of the first call that fails. The other calls continue.
 */
export async function forEachConcurrent<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const remaining = items.values();
  const worker = async (): Promise<void> => {
    for (const item of remaining) await work(item);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}
