/** The checkpoint file of an allocator: what it has seen of the ledger before its last restart. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { IpledgerError } from '../../../lib/errors.ts';
import { type Checkpoint, parseReadableCheckpoints } from './checkpoint.ts';
import type { VerifierKey } from './signing-key.ts';
import { verifiedSigners } from './signed-note.ts';

/** Only the end of the file is read: some two hundred checkpoints. */
const maxReadBytes = 64 << 10;

export interface LastCheckpoint {
  /** The last checkpoint that this key signed, or else the last one, which proves nothing; undefined for an empty file. */
  readonly last: Checkpoint | undefined;
  readonly isSigned: boolean;
  /** The unreadable parts of the file, each with its line. */
  readonly faults: readonly string[];
}

/**
 * Reads the last checkpoint of a file, preferably of this ledger. A missing file has no checkpoints.
 * @throws IpledgerError INVALID_REQUEST when the file is not readable.
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
    // A pipe stores nothing.
    if (statSync(file, { throwIfNoEntry: false })?.isFIFO() ?? true) return { text: '', isComplete: true };
    const descriptor = openSync(file, 'r');
    try {
      const { size } = fstatSync(descriptor);
      const bytes = Buffer.alloc(Math.min(size, maxReadBytes));
      const text = bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, size - bytes.length));
      if (size <= maxReadBytes) return { text, isComplete: true };
      // The text begins inside a checkpoint: skip to the next one.
      return { text: /^ipledger\/[^]*/m.exec(text)?.[0] ?? '', isComplete: false };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new IpledgerError('INVALID_REQUEST', `the checkpoint file ${file} is not readable: ${reason}`, {
      cause: error,
    });
  }
}
