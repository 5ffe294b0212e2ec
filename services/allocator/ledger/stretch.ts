/**
 * How a long range is cut into requests to etcd. For each request etcd counts all keys of the range that is named, however few it
 * may return: asking for "the first page of the log" would cost as much as the whole log. But the log's keys are numbered, so a
 * request can name exactly the keys that fill a page; and pages of other keys are cut so that none reaches into the log.
 */
import type { Seq } from '../domain/event.ts';
import { logKey, logPrefix, seqOfKey } from './keys.ts';

/** Keys from one (included) to another (not included). */
export interface Stretch {
  readonly from: string;
  readonly end: string;
}

/** What etcd gave of a stretch. */
interface Given {
  readonly keys: number;
  /** The last of them; '' for none. */
  readonly last: string;
  /** Whether there are more in the stretch. */
  readonly more: boolean;
}

export interface Paging {
  /** How many keys a page has. */
  readonly pageSize: number;
  /** The first event of the log, as far as that is known. A wrong one costs more reads, and changes no answer. */
  readonly floor: Seq;
}

/** Where to begin: with what fills a page, as far as that is known. */
export function firstStretch({ from, end }: Stretch, paging: Paging): Stretch {
  const filled = filledFrom(from, paging) ?? end;
  return { from, end: filled < end ? filled : end };
}

/**
 * The stretch to read after another, on the way to `end`; undefined when all is read. Where a stretch of the log lacks a key, the
 * log ends there or has a gap: then all the rest is asked for.
 * @param paging how the stretch that was read was cut; and how many keys the next page has, where that is another number.
 */
export function stretchAfter(
  read: Stretch,
  { keys, last, more }: Given,
  end: string,
  paging: Paging & { readonly nextPageSize?: number },
): Stretch | undefined {
  const next = { ...paging, pageSize: paging.nextPageSize ?? paging.pageSize };
  if (more) return firstStretch({ from: keyAfter(last), end }, next);
  if (read.end === end) return undefined;
  const isOfLog = read.from >= logPrefix;
  const rest = { from: read.end, end };
  return isOfLog && keys !== paging.pageSize ? rest : firstStretch(rest, next);
}

/** A page has at most so many keys; the first, of which nothing is known, fewer. */
const mostKeys = 2_000;
export const keysOfFirstPage = 500;
/** A page has about so many bytes at most: what etcd answers is held in memory whole. */
export const mostBytes = 4 << 20;

/** How many keys to ask for behind a page of so many keys and bytes: as many as would fill one. */
export const keysOfNextPage = (keys: number, bytes: number): number =>
  keys === 0 ? mostKeys : Math.max(1, Math.min(mostKeys, Math.floor((mostBytes * keys) / Math.max(1, bytes))));

/** The key before which a page that begins here ends at the latest, if that is known. */
function filledFrom(from: string, { pageSize, floor }: Paging): string | undefined {
  if (from < logPrefix) return logPrefix;
  const seq = from === logPrefix ? floor : seqOfKey(from);
  return seq === undefined ? undefined : logKey(seq + pageSize);
}

function keyAfter(key: string): string {
  const seq = seqOfKey(key);
  return seq === undefined ? `${key}\0` : logKey(seq + 1);
}
