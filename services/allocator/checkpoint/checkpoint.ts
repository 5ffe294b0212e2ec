/**
 * A checkpoint: what the ledger was at one moment, signed, to be kept where whoever can write to etcd cannot. A ledger of which
 * anything before it was changed does not lead to its hash any more.
 *
 * Its lines are those of c2sp.org/tlog-checkpoint. The hash is that of the chain, and no root of a Merkle tree: what depends on
 * inclusion proofs cannot be had from it, and following it takes reading the log.
 *
 *   ipledger/01KG9AG8M00000000000000001          the ledger
 *   42                                           events
 *   CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I= SHA-256 of the last one's line
 *   epoch 1                                      how often the ledger was restored, from 1
 *   time 2026-01-31T08:00:41.000Z                the last event's
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Head } from '../ledger/chain.ts';
import type { SignerKey } from './key.ts';
import { type Note, parseNote, signNote } from './note.ts';

export interface Checkpoint {
  readonly head: Head;
  /** For whoever checks who signed it. */
  readonly note: Note;
}

/** The signed checkpoint of a head. */
export function signCheckpoint({ ledger, epoch, seq, hash, at }: Head, signer: SignerKey): string {
  const root = Buffer.from(hash, 'hex').toString('base64');
  const lines = [`ipledger/${ledger}`, String(seq), root, `epoch ${epoch}`, `time ${new Date(at).toISOString()}`];
  return signNote(lines.map((line) => `${line}\n`).join(''), signer);
}

/** Reads one, and believes nothing of it yet. @throws IpledgerError INVALID_REQUEST for what is none. */
export function parseCheckpoint(message: string): Checkpoint {
  const note = parseNote(message);
  const [, ledger = '', seq, root = '', epoch, time = ''] =
    /^ipledger\/(\S+)\n([1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\nepoch ([1-9]\d{0,8})\ntime (\S+)\n$/.exec(note.text) ??
    [];
  const at = Date.parse(time);
  if (seq === undefined || Number.isNaN(at))
    throw new IpledgerError('INVALID_REQUEST', `this note is no checkpoint of ipledger: ${note.text.slice(0, 200)}`);
  const hash = Buffer.from(root, 'base64').toString('hex');
  return { head: { ledger, epoch: Number(epoch), seq: Number(seq), hash, at }, note };
}

/** All checkpoints of a file, one behind the other; empty lines between them. @throws IpledgerError INVALID_REQUEST */
export function parseCheckpoints(text: string): Checkpoint[] {
  // A note ends with the last of its signature lines.
  const notes = text.split(/(?<=^— [^\n]*\n)(?!— )\n*/m).filter((note) => note.trim() !== '');
  return notes.map(parseCheckpoint);
}
