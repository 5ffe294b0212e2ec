/**
 * The interface of an archive: a store for segments. Other programs may write to the store, so a
 * reader trusts no size, type or content of a file, and each read has a time limit.
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
   * Stores a file durably, and replaces a file of the same name. The name of a segment's file
   * contains the hash of its content.
   */
  put(name: string, content: Buffer, signal: AbortSignal): Promise<void>;
  /**
   * Reads a file; undefined if it does not exist.
   * @throws IpledgerError LEDGER_DAMAGED for a file of more than `maxBytes`, before it is read, and
   * for anything but a regular file
   */
  get(name: string, maxBytes: number, signal: AbortSignal): Promise<Buffer | undefined>;
}

/** An archive of limited size: the oldest segments are dropped. Throws like Archive. */
export interface BoundedArchive extends Archive {
  readonly maxBytes: number;
  /** The bytes of all files. */
  size(signal: AbortSignal): Promise<number>;
  /** Deletes the files of a folder whose names are before `name`. */
  deleteBefore(folder: string, name: string, signal: AbortSignal): Promise<void>;
}

export const isBounded = (archive: Archive): archive is BoundedArchive => 'maxBytes' in archive;

/** The largest file. Segments are smaller, even with a million addresses. */
export const maxFileBytes = 512 << 20;

/** The error for a file that differs from what was sealed. `name` is its name or its location. */
export const damagedFile = (name: string, reason: string): IpledgerError =>
  new IpledgerError('LEDGER_DAMAGED', `the archive file ${name} is damaged: ${reason}. Restore it from a copy`);
