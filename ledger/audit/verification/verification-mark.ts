/**
 * The mark of a verification: up to which event the ledger was verified, in the archive, where any
 * replica finds it. A checkpoint key signs it, so that a client which writes the archive cannot
 * make one; an older mark only repeats work.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Archive } from '../../archive/archive.ts';
import type { Head } from '../../log/chain/chain.ts';
import { parseCheckpoint, signCheckpoint } from '../checkpoints/checkpoint.ts';
import type { SignerKey, VerifierKey } from '../checkpoints/signing-key.ts';
import { verifiedSigners } from '../checkpoints/signed-note.ts';

const maxMarkBytes = 4 << 10;
const statement = 'ipledger-verified';
const nameOf = (ledger: string): string => `${ledger}/verified.note`;

/** Replaces the mark of the head's ledger. @throws IpledgerError UNAVAILABLE; AbortError */
export const saveMark = (archive: Archive, head: Head, signer: SignerKey, signal: AbortSignal): Promise<void> =>
  archive.put(nameOf(head.ledger), Buffer.from(signCheckpoint(head, signer, statement)), signal);

/**
 * The mark of a ledger; undefined for none, and for a file that this key did not sign.
 * @throws IpledgerError UNAVAILABLE; AbortError
 */
export async function readMark(
  archive: Archive,
  ledger: string,
  key: VerifierKey,
  signal: AbortSignal,
): Promise<Head | undefined> {
  try {
    const content = await archive.get(nameOf(ledger), maxMarkBytes, signal);
    const mark = content && parseCheckpoint(content.toString('utf8'), statement);
    return mark?.head.ledger === ledger && verifiedSigners(mark.note, [key]).length > 0 ? mark.head : undefined;
  } catch (error) {
    const { code } = IpledgerError.from(error);
    if (code === 'LEDGER_DAMAGED' || code === 'INVALID_REQUEST') return undefined; // another program wrote the file
    throw error;
  }
}
