/** Bits of 32-bit words, as sets of addresses are kept. */

/** The index of the lowest bit that is set; the word is not 0. */
export const lowestBit = (word: number): number => 31 - Math.clz32(word & -word);

/** The bits of a word from `bit` (0 to 32) up. */
export const bitsFrom = (bit: number): number => (bit >= 32 ? 0 : (-1 << bit) >>> 0);
