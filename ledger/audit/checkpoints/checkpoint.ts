/**
 * A checkpoint: a signed head of the ledger. Store it where clients with write access to etcd
 * cannot change it. If an event before it changes, the hash of the ledger at that event no longer
 * matches.
 *
 * The lines follow c2sp.org/tlog-checkpoint. The hash is that of the hash chain, not the root of a
 * Merkle tree: there are no inclusion proofs, and a check reads the log.
 *
 *   ipledger/01KG9AG8M00000000000000001          the ledger
 *   42                                           the number of events
 *   CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I= SHA-256 of the line of the last event
 *   epoch 1                                      the number of restores, from 1
 *   time 2026-01-31T08:00:41.000Z                the time of the last event
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Head } from '../../log/chain/chain.ts';
import type { SignerKey } from './signing-key.ts';
import { type Note, parseNote, signNote } from './signed-note.ts';

export interface Checkpoint {
  readonly head: Head;
  /** The note with its signatures, for a later check. */
  readonly note: Note;
}

/** What a signature states: that the ledger had the head, or that it is verified up to the head. */
export type Statement = 'ipledger' | 'ipledger-verified';

/** Signs a head. */
export function signCheckpoint(
  { ledger, epoch, seq, hash, at }: Head,
  signer: SignerKey,
  statement: Statement = 'ipledger',
): string {
  const root = Buffer.from(hash, 'hex').toString('base64');
  const lines = [`${statement}/${ledger}`, String(seq), root, `epoch ${epoch}`, `time ${new Date(at).toISOString()}`];
  return signNote(lines.map((line) => `${line}\n`).join(''), signer);
}

/**
 * Parses a checkpoint without checking its signatures.
 * @throws IpledgerError INVALID_REQUEST for any other text.
 */
export function parseCheckpoint(message: string, statement: Statement = 'ipledger'): Checkpoint {
  const note = parseNote(message);
  const [, found, ledger = '', seq, root = '', epoch, time = ''] =
    /^([a-z-]+)\/(\S+)\n([1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\nepoch ([1-9]\d{0,8})\ntime (\S+)\n$/.exec(note.text) ??
    [];
  const at = Date.parse(time);
  if (found !== statement || seq === undefined || Number.isNaN(at))
    throw new IpledgerError('INVALID_REQUEST', `this note is not a checkpoint of ipledger: ${note.text.slice(0, 200)}`);
  const hash = Buffer.from(root, 'base64').toString('hex');
  return { head: { ledger, epoch: Number(epoch), seq: Number(seq), hash, at }, note };
}

/** The content of a checkpoint file. */
export interface ParsedCheckpoints {
  /** Sorted as in the file. */
  readonly checkpoints: readonly Checkpoint[];
  /** The unreadable parts with their line numbers: an incomplete checkpoint or other text. */
  readonly faults: readonly string[];
}

/**
 * Parses consecutive checkpoints, with or without empty lines between them. Each begins with a line
 * that names its ledger.
 */
export function parseReadableCheckpoints(text: string): ParsedCheckpoints {
  const checkpoints: Checkpoint[] = [];
  const faults: string[] = [];
  let line = 1;
  // Accepts the line ends of other systems, on which the file may have been edited.
  for (const piece of text.replaceAll('\r\n', '\n').split(/^(?=ipledger\/)/m)) {
    try {
      if (piece.trim() !== '') checkpoints.push(parseCheckpoint(`${piece.trimEnd()}\n`));
    } catch (error) {
      faults.push(`line ${line}: ${IpledgerError.from(error).message}`);
    }
    line += piece.split('\n').length - 1;
  }
  return { checkpoints, faults };
}

/**
 * Parses a file in which everything must be readable.
 * @throws IpledgerError INVALID_REQUEST with the first unreadable line.
 */
export function parseCheckpoints(text: string): readonly Checkpoint[] {
  const { checkpoints, faults } = parseReadableCheckpoints(text);
  if (faults[0] !== undefined) throw new IpledgerError('INVALID_REQUEST', faults[0]);
  return checkpoints;
}
