/**
 * Splits a long range into requests to etcd. For each request, etcd counts all keys of the
 * requested range, even if it returns few: the first page of an open range would cost as much as
 * the whole log. Log keys are numbered, so a request can name exactly the range that fills a page.
 *
 * Pages of other keys end before the log. The number of keys in a range of them is unknown. But the
 * keys of the last page share a beginning, so the next range ends with the keys that share it too.
 * Such a range is usually a few pages, and never all Subnets.
 */
import type { Seq } from '../../domain/values/ledger.ts';
import { keyPrefix, logKey, logPrefix, prefixEnd, seqOfKey } from './keys.ts';

/** Keys from `from` (included) to `end` (not included). */
export interface PageRange {
  readonly from: string;
  readonly end: string;
}

/** What etcd returned for one range. */
interface ReceivedPage {
  readonly keys: number;
  /** The last key; '' for an empty page. */
  readonly last: string;
  /** Whether the range has more keys. */
  readonly more: boolean;
}

export interface Paging {
  /** The number of keys of a page. */
  readonly pageSize: number;
  /** The first event of the log. A wrong value costs reads, but changes no result. */
  readonly logStart: Seq;
}

/** The range of the first page. */
export function firstPageRange({ from, end }: PageRange, paging: Paging): PageRange {
  const pageEnd = pageEndOf(from, paging) ?? end;
  return { from, end: pageEnd < end ? pageEnd : end };
}

/**
 * The range of the page after `read`; undefined when all keys up to `end` are read. A log page that
 * is not full means the end of the log or a gap, so the next range is all that remains.
 * @param paging the paging of `read`, with the size of the next page if that differs.
 */
export function nextPageRange(
  read: PageRange,
  { keys, last, more }: ReceivedPage,
  end: string,
  paging: Paging & { readonly nextPageSize?: number },
): PageRange | undefined {
  const next = { ...paging, pageSize: paging.nextPageSize ?? paging.pageSize };
  const isOfLog = read.from >= logPrefix;
  if (more) {
    const range = firstPageRange({ from: keyAfter(last), end }, next);
    return isOfLog ? range : limitToPrefix(sharedBeginning(read.from, last), range);
  }
  if (read.end === end) return undefined;
  const rest = { from: read.end, end };
  if (isOfLog) return keys === paging.pageSize ? firstPageRange(rest, next) : rest;
  const range = firstPageRange(rest, next);
  // After an empty page the next keys may be far away, so the range is not narrowed.
  return keys === 0 ? range : limitToPrefix(read.end.slice(0, -1), range);
}

/** The beginning that two keys have in common. */
function sharedBeginning(one: string, other: string): string {
  for (let length = 0; length < one.length; length++) if (one[length] !== other[length]) return one.slice(0, length);
  return one;
}

/** Limits a range to the keys that begin with `beginning`, as `from` does, if that is possible. */
function limitToPrefix(beginning: string, { from, end }: PageRange): PageRange {
  const isOfLedger = beginning.length > keyPrefix.length && /^[ -}]+$/.test(beginning);
  const last = isOfLedger ? prefixEnd(beginning) : end;
  return { from, end: last < end ? last : end };
}

const maxPageKeys = 2_000;
/** The keys of the first page: few, because the size of the values is not known yet. */
export const firstPageKeys = 500;
/** An approximate limit, because a reply of etcd is in memory as one message. */
export const maxPageBytes = 4 << 20;

/** The number of keys that would fill the next page, judged by the last page. */
export const nextPageKeys = (keys: number, bytes: number): number =>
  keys === 0 ? maxPageKeys : Math.max(1, Math.min(maxPageKeys, Math.floor((maxPageBytes * keys) / bytes)));

/** The end of a page that begins at `from`; undefined for keys that are not numbered. */
function pageEndOf(from: string, { pageSize, logStart }: Paging): string | undefined {
  if (from < logPrefix) return logPrefix;
  const seq = from === logPrefix ? logStart : seqOfKey(from);
  return seq === undefined ? undefined : logKey(seq + pageSize);
}

function keyAfter(key: string): string {
  const seq = seqOfKey(key);
  return seq === undefined ? `${key}\0` : logKey(seq + 1);
}
