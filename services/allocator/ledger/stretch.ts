/**
 * Which ranges to ask etcd for, to read one in pages. etcd counts all keys of a range that it is asked for, however few of them it
 * may give: a page from the beginning of a long log would cost it as much as the log. But the log's keys are numbered, so that
 * after the first page just those are named that fill the next one.
 */
import { logKey, seqOfKey } from './keys.ts';

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

/**
 * The stretch behind one that was read, on the way to `end`; undefined when all is read. A stretch of the log with a key missing is
 * its end, or a gap: then all the rest is asked for.
 */
export function stretchAfter(
  read: Stretch,
  { keys, last, more }: Given,
  end: string,
  pageSize: number,
): Stretch | undefined {
  if (more) return stretchFrom(keyAfter(last), end, pageSize);
  if (read.end === end) return undefined;
  return keys === pageSize ? stretchFrom(read.end, end, pageSize) : { from: read.end, end };
}

function stretchFrom(from: string, end: string, pageSize: number): Stretch {
  const seq = seqOfKey(from);
  const filled = seq === undefined ? end : logKey(seq + pageSize);
  return { from, end: filled < end ? filled : end };
}

function keyAfter(key: string): string {
  const seq = seqOfKey(key);
  return seq === undefined ? `${key}\0` : logKey(seq + 1);
}
