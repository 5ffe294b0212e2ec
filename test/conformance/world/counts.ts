/** Counts and ranges of a subnet or a pool, under the names that the cases give them. */
import { type Fields, textOf } from '../json.ts';
import { minusRanges, unionOfRanges } from './ranges.ts';

interface Counted {
  readonly family: number;
  readonly inUse: string;
  readonly available: string;
  readonly inUseRange: string;
  readonly availableRange: string;
}

/** Both families; of one that is not there, nothing. */
export function countsOf(usage: readonly Counted[]): Fields {
  return Object.fromEntries(
    [4, 6].flatMap((family) => {
      const counted = usage.find((each) => each.family === family);
      return [
        [`v${family}Available`, counted?.available ?? '0'],
        [`v${family}Using`, counted?.inUse ?? '0'],
        [`v${family}AvailableRange`, counted?.availableRange ?? ''],
        [`v${family}UsingRange`, counted?.inUseRange ?? ''],
      ];
    }),
  );
}

/** What is left of a subnet when its pools are taken away. */
export function without(whole: Fields, pools: readonly Fields[]): Fields {
  return Object.fromEntries(
    (['v4', 'v6'] as const).flatMap((family) =>
      (['Available', 'Using'] as const).flatMap((kind) => {
        const key = `${family}${kind}Range`;
        const left = minusRanges(textOf(whole[key]), unionOfRanges(pools.map((pool) => textOf(pool[key]))));
        return [
          [key, left.text],
          [`${family}${kind}`, String(left.size)],
        ];
      }),
    ),
  );
}
