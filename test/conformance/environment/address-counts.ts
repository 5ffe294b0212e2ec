/** Counts and ranges of a subnet or a pool, with the names of the cases. */
import { type Fields, textOf } from '../../harness/json.ts';
import { subtractRanges, unionOfRanges } from './address-ranges.ts';

interface FamilyUsage {
  readonly family: number;
  readonly inUse: string;
  readonly available: string;
  readonly inUseRange: string;
  readonly availableRange: string;
}

/** Formats both families; an absent family has counts of 0. */
export function formatCounts(usage: readonly FamilyUsage[]): Fields {
  return Object.fromEntries(
    [4, 6].flatMap((family) => {
      const familyUsage = usage.find((each) => each.family === family);
      return [
        [`v${family}Available`, familyUsage?.available ?? '0'],
        [`v${family}Using`, familyUsage?.inUse ?? '0'],
        [`v${family}AvailableRange`, familyUsage?.availableRange ?? ''],
        [`v${family}UsingRange`, familyUsage?.inUseRange ?? ''],
      ];
    }),
  );
}

/** Subtracts the pools from the counts of their subnet. */
export function subtractPools(subnetCounts: Fields, pools: readonly Fields[]): Fields {
  return Object.fromEntries(
    (['v4', 'v6'] as const).flatMap((family) =>
      (['Available', 'Using'] as const).flatMap((kind) => {
        const key = `${family}${kind}Range`;
        const rest = subtractRanges(textOf(subnetCounts[key]), unionOfRanges(pools.map((pool) => textOf(pool[key]))));
        return [
          [key, rest.text],
          [`${family}${kind}`, String(rest.size)],
        ];
      }),
    ),
  );
}
