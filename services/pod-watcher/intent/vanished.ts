/**
 * When many Pods are missing at once without anybody having seen them go, it is more likely that the API server forgot
 * them (restored from a backup, pointed elsewhere) than that they ended: then nothing is released.
 */

const fewest = 20;

/** Whether so many of those who hold addresses can be missing at once. */
export function implausible(missing: number, holding: number): boolean {
  return holding >= fewest && missing * 2 > holding;
}
