/** The counts and ranges in the status of a Subnet or an IPPool. Pure. */
import type { Usage } from '../../../proto/generated/ipledger.ts';
import type { UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';

/** The largest integer of the API server. The ledger and the CLI may have larger counts. */
const maxCount = 2n ** 63n - 1n;
/** Limits a range, which may have megabytes if fragmented. The CLI prints all of it. */
const rangeMaxLength = 8_192;

/** The values of status fields, with exact integers. */
export type Counts = Record<string, bigint | string>;

/** Kube-OVN's names of status fields, after the prefix "v4" or "v6". */
export interface StatusFieldNames {
  readonly available: string;
  readonly using: string;
  readonly availableRange: string;
  readonly usingRange: string;
}

export const subnetFieldNames: StatusFieldNames = {
  available: 'availableIPs',
  using: 'usingIPs',
  availableRange: 'availableIPrange',
  usingRange: 'usingIPrange',
};

export const poolFieldNames: StatusFieldNames = {
  available: 'AvailableIPs',
  using: 'UsingIPs',
  availableRange: 'AvailableIPRange',
  usingRange: 'UsingIPRange',
};

/** Returns the status fields of both families. An absent family has zero and empty ranges. */
export function usageCounts(usage: readonly Usage[], fieldNames: StatusFieldNames): Counts {
  const of = (family: number): Counts =>
    familyCounts(
      `v${family}`,
      fieldNames,
      usage.find((each) => each.family === family),
    );
  return { ...of(4), ...of(6) };
}

function familyCounts(prefix: string, fieldNames: StatusFieldNames, usage: Usage | undefined): Counts {
  return {
    [prefix + fieldNames.available]: clamp(usage?.available),
    [prefix + fieldNames.using]: clamp(usage?.inUse),
    [prefix + fieldNames.availableRange]: shorten(usage?.availableRange ?? ''),
    [prefix + fieldNames.usingRange]: shorten(usage?.inUseRange ?? ''),
  };
}

function clamp(count: string | undefined): bigint {
  const exact = BigInt(count || '0');
  return exact > maxCount ? maxCount : exact;
}

function shorten(range: string): string {
  if (range.length <= rangeMaxLength) return range;
  return `${range.slice(0, range.lastIndexOf(',', rangeMaxLength))},...`;
}

/** Whether the status has these values. Numbers beyond 2^53 are rounded. */
export function hasCounts(status: UntypedJson, counts: Counts): boolean {
  return Object.entries(counts).every(
    ([key, value]) => status[key] === (typeof value === 'bigint' ? Number(value) : value),
  );
}

/** Returns a merge patch of the status with exact numbers. */
export function statusPatch(counts: Counts): object {
  const raw = Object.entries(counts).map(([key, value]) => [
    key,
    typeof value === 'bigint' ? exactNumber(value) : value,
  ]);
  return { status: Object.fromEntries(raw) as Record<string, unknown> };
}

/** Writes a value with all digits in JSON. TypeScript has no type for it yet. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => object };

function exactNumber(value: bigint): object {
  return rawJSON(String(value));
}
