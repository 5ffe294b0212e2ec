/** Judges from what replicas see of each other's clocks whether ours is wrong. Pure. */

/** Clocks may differ by this much: far more than a slow network or a busy machine adds to a comparison. */
const mostSkewMs = 30_000;

/**
 * How far our clock is off those of most replicas, where most of them agree among themselves; undefined where it is not, or
 * nobody can tell: of two that differ either may be right.
 * @param aheadMs how far ours is ahead of each other replica's.
 */
export function skewOf(aheadMs: readonly number[]): number | undefined {
  const most = Math.floor((aheadMs.length + 1) / 2) + 1;
  const sorted = aheadMs.toSorted((one, other) => one - other);
  for (let first = 0; first + most <= sorted.length; first++) {
    const those = sorted.slice(first, first + most);
    const [least = 0, greatest = 0] = [those[0], those.at(-1)];
    const agree = greatest - least <= mostSkewMs;
    if (agree && (least > mostSkewMs || greatest < -mostSkewMs)) return those[Math.floor(most / 2)];
  }
  return undefined;
}
