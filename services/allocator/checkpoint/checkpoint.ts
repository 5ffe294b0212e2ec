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

/** What stands in a file of checkpoints. */
export interface CheckpointFile {
  /** In the order of the file. */
  readonly checkpoints: readonly Checkpoint[];
  /** What can't be read of it, each with its line: a piece that was cut off, or something else. */
  readonly faults: readonly string[];
}

/** Reads checkpoints one behind the other, empty lines between them or none. Each begins with a line that names its ledger. */
export function readCheckpoints(text: string): CheckpointFile {
  const checkpoints: Checkpoint[] = [];
  const faults: string[] = [];
  let line = 1;
  // Who sent the file may have ended its lines otherwise.
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

/** The same of a file that has to be whole. @throws IpledgerError INVALID_REQUEST that names the line of what can't be read. */
export function parseCheckpoints(text: string): readonly Checkpoint[] {
  const { checkpoints, faults } = readCheckpoints(text);
  if (faults[0] !== undefined) throw new IpledgerError('INVALID_REQUEST', faults[0]);
  return checkpoints;
}
