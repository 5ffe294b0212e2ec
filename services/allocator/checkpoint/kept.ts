/** The checkpoints that an allocator kept in a file: what it remembers of the ledger when it is started again. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { IpledgerError } from '../../../lib/errors.ts';
import { type Checkpoint, readCheckpoints } from './checkpoint.ts';
import type { VerifierKey } from './key.ts';
import { signersOf } from './note.ts';

/** So much of a file is read, from its end: some two hundred checkpoints, of which the last is wanted. */
const mostBytes = 64 << 10;

export interface Kept {
  /** The last that this key signed; failing that, the last of all, which proves nothing; undefined where there is none. */
  readonly last: Checkpoint | undefined;
  readonly isSigned: boolean;
  /** What can't be read of it, each with its place. */
  readonly faults: readonly string[];
}

/**
 * The last checkpoint of a file, of this ledger if there are any. One that is not there yet has none.
 * @throws IpledgerError INVALID_REQUEST that says which file can't be read, and why.
 */
export function readKept(file: string, ledger: string, key: VerifierKey): Kept {
  const { text, isWhole } = endOfFile(file);
  const { checkpoints, faults } = readCheckpoints(text);
  const ofLedger = checkpoints.filter(({ head }) => head.ledger === ledger);
  const signed = ofLedger.findLast(({ note }) => isSignedBy(note, key));
  const place = isWhole ? file : `the last ${mostBytes} bytes of ${file}`;
  return {
    last: signed ?? ofLedger.at(-1) ?? checkpoints.at(-1),
    isSigned: signed !== undefined,
    faults: faults.map((fault) => `${place}, ${fault}`),
  };
}

function isSignedBy(note: Checkpoint['note'], key: VerifierKey): boolean {
  try {
    return signersOf(note, [key]).length > 0;
  } catch {
    return false; // it was altered
  }
}

function endOfFile(file: string): { readonly text: string; readonly isWhole: boolean } {
  try {
    // A pipe, say, has kept nothing.
    if (statSync(file, { throwIfNoEntry: false })?.isFIFO() ?? true) return { text: '', isWhole: true };
    const descriptor = openSync(file, 'r');
    try {
      const { size } = fstatSync(descriptor);
      const bytes = Buffer.alloc(Math.min(size, mostBytes));
      const text = bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, size - bytes.length));
      if (size <= mostBytes) return { text, isWhole: true };
      // It begins anywhere, within a checkpoint.
      return { text: /^ipledger\/[^]*/m.exec(text)?.[0] ?? '', isWhole: false };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new IpledgerError('INVALID_REQUEST', `the checkpoints in ${file} can't be read: ${why}`, { cause: error });
  }
}
