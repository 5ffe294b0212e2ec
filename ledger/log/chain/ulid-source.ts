/**
 * Ids of events, commands and ledgers: ULIDs (github.com/ulid/spec). Each id is greater than the
 * previous one from the same source. The first id of a millisecond is random, and each later one is
 * the next number.
 */
import { randomBytes } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const [timeLength, randomLength] = [10, 16];
/** The digits that count up within a millisecond: 35 bits, exact in a number. */
const lowDigits = 7;
const poolBytes = 4_096;

/** Returns a function that creates ids. It reads random bytes in bulk, which is cheaper. */
export function createUlidSource(clock: () => number = Date.now): () => string {
  let pool = randomBytes(poolBytes);
  let used = 0;
  const randomDigit = (): number => {
    if (used === pool.length) [pool, used] = [randomBytes(poolBytes), 0];
    return pool.readUInt8(used++) & 31;
  };
  let [time, prefix, low] = [-1, '', 0];
  const begin = (now: number): void => {
    time = now;
    prefix = digitsOf(now, timeLength);
    for (let digit = lowDigits; digit < randomLength; digit++) prefix += alphabet[randomDigit()];
    low = 0;
    for (let digit = 0; digit < lowDigits; digit++) low = low * 32 + randomDigit();
  };
  return () => {
    const now = clock();
    if (now > time) begin(now);
    // The numbers of this millisecond are used up. That is rare, because the first is random in
    // 2^35.
    else if (++low === 32 ** lowDigits) begin(time + 1);
    return prefix + digitsOf(low, lowDigits);
  };
}

/** Formats a number in Crockford's base 32. */
function digitsOf(value: number, length: number): string {
  let text = '';
  for (let rest = value, digit = 0; digit < length; digit++, rest = Math.floor(rest / 32))
    text = (alphabet[rest % 32] ?? '') + text;
  return text;
}
