/** Decides whether this replica's clock is wrong, from its differences to the other clocks. Pure. */

/** The allowed difference: much more than a slow network or a busy machine adds to a comparison. */
export const maxSkewMs = 30_000;

/**
 * How far this clock differs from those of most replicas, if most of them agree. Undefined when it agrees with them, or when it
 * cannot be decided: if only two clocks differ, either may be right.
 * @param aheadMs how far this clock is ahead of each other one.
 */
export function clockSkewMs(aheadMs: readonly number[]): number | undefined {
  const majority = Math.floor((aheadMs.length + 1) / 2) + 1;
  const sorted = aheadMs.toSorted((one, other) => one - other);
  for (let first = 0; first + majority <= sorted.length; first++) {
    const group = sorted.slice(first, first + majority);
    const [min = 0, max = 0] = [group[0], group.at(-1)];
    const agree = max - min <= maxSkewMs;
    if (agree && (min > maxSkewMs || max < -maxSkewMs)) return group[Math.floor(majority / 2)];
  }
  return undefined;
}
