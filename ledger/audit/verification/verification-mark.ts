/**
 * The mark of a verification: the event up to which the ledger was verified. It is in the archive,
 * so that any replica finds it. A checkpoint key signs it, so that a client with write access to
 * the archive cannot forge it. An older mark only repeats work.
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

/** Replaces the ledger's mark. @throws IpledgerError UNAVAILABLE; AbortError */
export const saveMark = (archive: Archive, head: Head, signer: SignerKey, signal: AbortSignal): Promise<void> =>
  archive.put(nameOf(head.ledger), Buffer.from(signCheckpoint(head, signer, statement)), signal);

/**
 * Reads the mark of a ledger. Returns undefined for none, and for a file that this key did not
 * sign.
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
