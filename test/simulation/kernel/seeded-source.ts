/** A source of random numbers that follow from a seed and a purpose. */
import { createSource, type SeededRandom } from '../../faults/seeded-random.ts';

/** A source whose numbers do not depend on how much other purposes have drawn. */
export const sourceFor = (seed: number, purpose: string): SeededRandom => createSource(mix(seed, hashText(purpose)));

/** The FNV-1a hash of a text, 32 bits. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = mix(hash, text.charCodeAt(index));
  return hash;
}

/** Adds a number to a hash. */
export const mix = (hash: number, value: number): number => Math.imul(hash ^ value, 0x01000193) >>> 0;
