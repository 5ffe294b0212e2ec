/** Bit operations on the 32-bit words of address bitmaps. */

/** The index of the lowest set bit. The word must not be 0. */
export const lowestBit = (word: number): number => 31 - Math.clz32(word & -word);

/** A mask of the bits from `bit` (0 to 32) upwards. */
export const bitsFrom = (bit: number): number => (bit >= 32 ? 0 : (-1 << bit) >>> 0);
