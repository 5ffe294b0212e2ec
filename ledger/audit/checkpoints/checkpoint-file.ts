/**
 * The checkpoint file of an allocator: what it had seen of the ledger before its last restart. The
 * path may also be a folder that another program writes, such as the pod-watcher's ConfigMap that
 * the chart mounts: it has one file for each checkpoint, named by the number of its event.
 */
import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, IpledgerError } from '../../../lib/errors.ts';
import { type Checkpoint, parseReadableCheckpoints } from './checkpoint.ts';
import type { VerifierKey } from './signing-key.ts';
import { verifiedSigners } from './signed-note.ts';

/** The most bytes that are read from the end of the file: about two hundred checkpoints. */
const maxReadBytes = 64 << 10;
/**
 * The most files that are read from a folder, in the order of their names from the last, and the
 * most bytes of each.
 */
const maxFolderFiles = 100;
const maxFolderFileBytes = 4 << 10;

/** Whether the path is a folder, which an allocator only reads. */
export const isFolder = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;

export interface LastCheckpoint {
  /**
   * The last checkpoint that this key signed. If there is none, the last checkpoint of all, which
   * proves nothing. Undefined for an empty file.
   */
  readonly last: Checkpoint | undefined;
  readonly isSigned: boolean;
  /** The unreadable parts of the file, each with its line. */
  readonly faults: readonly string[];
}

/**
 * Reads the last checkpoint of a file, preferably of this ledger. A missing file has no
 * checkpoints.
 * @throws IpledgerError INVALID_REQUEST if the file is not readable.
 */
export function readLastCheckpoint(file: string, ledger: string, key: VerifierKey): LastCheckpoint {
  const { text, isComplete } = readEnd(file);
  const { checkpoints, faults } = parseReadableCheckpoints(text);
  const ofLedger = checkpoints.filter(({ head }) => head.ledger === ledger);
  const signed = ofLedger.findLast(({ note }) => isSignedBy(note, key));
  const source = isComplete ? file : `the last ${maxReadBytes} bytes of ${file}`;
  return {
    last: signed ?? ofLedger.at(-1) ?? checkpoints.at(-1),
    isSigned: signed !== undefined,
    faults: faults.map((fault) => `${source}, ${fault}`),
  };
}

function isSignedBy(note: Checkpoint['note'], key: VerifierKey): boolean {
  try {
    return verifiedSigners(note, [key]).length > 0;
  } catch {
    return false; // the note was changed
  }
}

function readEnd(file: string): { readonly text: string; readonly isComplete: boolean } {
  try {
    if (!isFolder(file)) return readEndOfFile(file, maxReadBytes);
    const names = readdirSync(file).filter((name) => !name.startsWith('.'));
    const last = names.toSorted().slice(-maxFolderFiles);
    // Notes are separated by an empty line.
    const text = last.map((name) => readEndOfFile(join(file, name), maxFolderFileBytes).text).join('\n');
    return { text, isComplete: true };
  } catch (error) {
    const reason = errorMessage(error);
    throw new IpledgerError('INVALID_REQUEST', `the checkpoint file ${file} is not readable: ${reason}`, {
      cause: error,
    });
  }
}

/** Reads the last bytes of a file. Returns an empty text for a missing file, a pipe or a folder. */
function readEndOfFile(file: string, maxBytes: number): { readonly text: string; readonly isComplete: boolean } {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return { text: '', isComplete: true };
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    const text = bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, size - bytes.length));
    if (size <= maxBytes) return { text, isComplete: true };
    // Skips the checkpoint inside which the text begins.
    return { text: /^ipledger\/[^]*/m.exec(text)?.[0] ?? '', isComplete: false };
  } finally {
    closeSync(descriptor);
  }
}
