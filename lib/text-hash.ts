/**
 * Hashes of texts. Tables in memory use HalfSipHash-1-3 with a random key: tenants choose the names
 * of their Pods, and without the key they cannot find names with equal hashes, which would make
 * look-ups slow.
 */

import { hash as hashOf } from 'node:crypto';

/** SHA-256 in hexadecimal, for stored values: it is the same in each process. */
export const stableHash = (text: string): string => hashOf('sha256', text, 'hex');

/** Returns a hash of 30 bits, which V8 stores without an object. */
export type TextHash = (text: string) => number;

/** @param key two numbers of 32 bits; default: random, so that each process has other hashes */
export function createTextHash([key0, key1]: readonly [number, number] = [randomWord(), randomWord()]): TextHash {
  return (text) => {
    const state: State = { a: key0, b: key1, c: key0 ^ 0x6c796765, d: key1 ^ 0x74656462 };
    const { length } = text;
    for (let index = 0; index + 1 < length; index += 2)
      absorb(state, text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16));
    absorb(state, (length << 17) | (length % 2 === 1 ? text.charCodeAt(length - 1) : 0));
    state.c ^= 0xff;
    for (let round = 0; round < 3; round++) mix(state);
    return (state.b ^ state.d) & 0x3fffffff;
  };
}

interface State {
  a: number;
  b: number;
  c: number;
  d: number;
}

const randomWord = (): number => crypto.getRandomValues(new Int32Array(1))[0] as number;

function absorb(state: State, word: number): void {
  state.d ^= word;
  mix(state);
  state.a ^= word;
}

function mix(state: State): void {
  let { a, b, c, d } = state;
  a = (a + b) | 0;
  b = rotated(b, 5) ^ a;
  a = rotated(a, 16);
  c = (c + d) | 0;
  d = rotated(d, 8) ^ c;
  a = (a + d) | 0;
  d = rotated(d, 7) ^ a;
  c = (c + b) | 0;
  b = rotated(b, 13) ^ c;
  state.a = a;
  state.b = b;
  state.c = rotated(c, 16);
  state.d = d;
}

const rotated = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));
