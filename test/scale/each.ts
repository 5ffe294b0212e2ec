/** Runs `work` for each item, in order, so many at a time. @throws what the first to fail threw; the others go on. */
export async function each<Item>(
  items: readonly Item[],
  atATime: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const rest = items.values();
  const hand = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: atATime }, hand));
}
