/**
 * The port to the archive: the store of segments. Other clients may write it: a reader trusts no
 * size, type or content of a file, and waits for none without a limit.
 */
import { IpledgerError } from '../../lib/errors.ts';

/**
 * Both methods throw IpledgerError UNAVAILABLE, also when the store takes too long, or an
 * AbortError when the signal is aborted.
 */
export interface Archive {
  /** For messages: "folder /a", "s3 https://…". */
  readonly location: string;
  /**
   * Stores a file durably before it resolves, in place of one of this name. The names of segments
   * contain the hash of their content.
   */
  put(name: string, content: Buffer, signal: AbortSignal): Promise<void>;
  /**
   * Reads a file; undefined if it does not exist.
   * @throws IpledgerError LEDGER_DAMAGED for a file of more than `maxBytes`, before it is read, and
   * for anything but a regular file
   */
  get(name: string, maxBytes: number, signal: AbortSignal): Promise<Buffer | undefined>;
}

/**
 * An archive of limited size: the oldest segments are dropped. Methods throw as those of Archive.
 */
export interface BoundedArchive extends Archive {
  readonly maxBytes: number;
  /** The bytes of all files. */
  size(signal: AbortSignal): Promise<number>;
  /** Deletes the files of a folder whose names are before `name`. */
  deleteBefore(folder: string, name: string, signal: AbortSignal): Promise<void>;
}

export const isBounded = (archive: Archive): archive is BoundedArchive => 'maxBytes' in archive;

/**
 * The largest file. A segment is smaller, also with a million addresses; its size is in its
 * manifest.
 */
export const maxFileBytes = 512 << 20;

/**
 * The error for a file that differs from what was sealed. `name` is that of the file, or its place.
 */
export const damagedFile = (name: string, reason: string): IpledgerError =>
  new IpledgerError('LEDGER_DAMAGED', `the archive file ${name} is damaged: ${reason}. Restore it from a copy`);
