/** The counts and ranges of a Subnet or an IPPool, as its status shows them. Pure. */
import type { Usage } from '../../../proto/ipledger.ts';
import type { Raw } from '../../../lib/raw.ts';

/** The API server's integers end here; the ledger and the CLI count on. */
const mostCount = 2n ** 63n - 1n;
/** A subnet that is full of holes has a range of megabytes; who wants all of it asks the CLI. */
const rangeMaxLength = 8_192;

/** Numbers as exact digits, texts as they are. */
export type Counts = Record<string, bigint | string>;

/** How Kube-OVN spells the fields behind "v4" and "v6". */
export interface Spelling {
  readonly available: string;
  readonly using: string;
  readonly availableRange: string;
  readonly usingRange: string;
}

export const subnetSpelling: Spelling = {
  available: 'availableIPs',
  using: 'usingIPs',
  availableRange: 'availableIPrange',
  usingRange: 'usingIPrange',
};

export const poolSpelling: Spelling = {
  available: 'AvailableIPs',
  using: 'UsingIPs',
  availableRange: 'AvailableIPRange',
  usingRange: 'UsingIPRange',
};

/** What the status must say of both families; zero and nothing for one that there is not. */
export function countsOf(usage: readonly Usage[], spelling: Spelling): Counts {
  const of = (family: number): Counts =>
    familyCounts(
      `v${family}`,
      spelling,
      usage.find((each) => each.family === family),
    );
  return { ...of(4), ...of(6) };
}

function familyCounts(prefix: string, spelling: Spelling, usage: Usage | undefined): Counts {
  return {
    [prefix + spelling.available]: clamped(usage?.available),
    [prefix + spelling.using]: clamped(usage?.inUse),
    [prefix + spelling.availableRange]: shortened(usage?.availableRange ?? ''),
    [prefix + spelling.usingRange]: shortened(usage?.inUseRange ?? ''),
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
