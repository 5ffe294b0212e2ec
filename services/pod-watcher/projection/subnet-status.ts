/** A Subnet's counts and ranges, as its status shows them. Pure. */
import type { Usage } from '../../../proto/ipledger.ts';
import type { Raw } from '../kubernetes/raw.ts';

/** The API server's integers end here; the ledger and the CLI count on. */
const mostCount = 2n ** 63n - 1n;
/** A subnet that is full of holes has a range of megabytes; who wants all of it asks the CLI. */
const rangeMaxLength = 8_192;

/** Numbers as exact digits, texts as they are. */
export type Counts = Record<string, bigint | string>;

/** What the status must say of both families; zero and nothing for one that the subnet does not have. */
export function countsOf(usage: readonly Usage[]): Counts {
  return {
    ...familyCounts(
      'v4',
      usage.find(({ family }) => family === 4),
    ),
    ...familyCounts(
      'v6',
      usage.find(({ family }) => family === 6),
    ),
  };
}

function familyCounts(prefix: 'v4' | 'v6', usage: Usage | undefined): Counts {
  return {
    [`${prefix}availableIPs`]: clamped(usage?.available),
    [`${prefix}usingIPs`]: clamped(usage?.inUse),
    [`${prefix}availableIPrange`]: shortened(usage?.availableRange ?? ''),
    [`${prefix}usingIPrange`]: shortened(usage?.inUseRange ?? ''),
  };
}

function clamped(count: string | undefined): bigint {
  const exact = BigInt(count || '0');
  return exact > mostCount ? mostCount : exact;
}

function shortened(range: string): string {
  if (range.length <= rangeMaxLength) return range;
  return `${range.slice(0, range.lastIndexOf(',', rangeMaxLength))},...`;
}

/** Whether the status says so already. A number beyond 2^53 was rounded when it was read: so is what it is compared with. */
export function saysCounts(status: Raw, counts: Counts): boolean {
  return Object.entries(counts).every(
    ([key, value]) => status[key] === (typeof value === 'bigint' ? Number(value) : value),
  );
}

/** A merge patch of the status, with every digit. */
export function statusPatch(counts: Counts): object {
  const raw = Object.entries(counts).map(([key, value]) => [
    key,
    typeof value === 'bigint' ? exactNumber(value) : value,
  ]);
  return { status: Object.fromEntries(raw) as Record<string, unknown> };
}

/** Node's JSON.stringify writes such a value digit by digit; TypeScript does not know it yet. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => object };

function exactNumber(value: bigint): object {
  return rawJSON(String(value));
}
