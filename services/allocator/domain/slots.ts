/**
 * A sorted array of a few slots of a page (0 to 32,767). A page of addresses starts as one: 64 slots cost 0.5 KB, and a bitmap
 * of the page costs 4 KB however few addresses are in it.
 */

/** A page with more slots than these is a bitmap. */
export const mostFewSlots = 64;

/** Index of the first slot that is at least `slot`; the length when there is none. */
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

/** Whether the slot is one of them. */
export const hasSlot = (slots: readonly number[], slot: number): boolean => slots[slotIndex(slots, slot)] === slot;

/** Adds a slot that is not there, or removes one that is. */
export function flipSlot(slots: number[], slot: number): void {
  const index = slotIndex(slots, slot);
  if (slots[index] === slot) slots.splice(index, 1);
  else slots.splice(index, 0, slot);
}
