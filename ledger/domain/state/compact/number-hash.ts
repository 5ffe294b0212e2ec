/** A hash of whole numbers for slot indexes: one-to-one, so that only equal numbers have equal hashes. */

/** Tenants choose addresses, and must not choose their places in an index. */
const [key] = crypto.getRandomValues(new Int32Array(1)) as unknown as readonly [number];

/** @param value 0 to 2^32 - 1 */
export function hashNumber(value: number): number {
  const keyed = value ^ key;
  const mixed = Math.imul(keyed ^ (keyed >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 12);
}
