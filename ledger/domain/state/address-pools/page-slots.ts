/**
 * A sorted array of a few slots (0 to 32,767) of a page of addresses. 64 slots take 0.5 KB; a
 * bitmap of the page would take 4 KB.
 */

/** A page with more slots than this is a bitmap. */
export const maxSparseSlots = 64;

/** Returns the index of the first slot that is at least `slot`, or the length if there is none. */
export function slotIndex(slots: readonly number[], slot: number): number {
  let low = 0;
  let high = slots.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((slots[middle] as number) < slot) low = middle + 1;
    else high = middle;
  }
  return low;
}

export const hasSlot = (slots: readonly number[], slot: number): boolean => slots[slotIndex(slots, slot)] === slot;

/** Adds a slot if it is absent, removes it if it is present. */
export function flipSlot(slots: number[], slot: number): void {
  const index = slotIndex(slots, slot);
  if (slots[index] === slot) slots.splice(index, 1);
  else slots.splice(index, 0, slot);
}
