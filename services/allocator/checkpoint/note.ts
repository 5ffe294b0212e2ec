/**
 * Signed notes, as c2sp.org/signed-note defines them: a text that ends in a newline, an empty line, and a line for each
 * signature. Any tool that reads them reads ours.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { isSignedBy, refuseName, type SignerKey, signWith, type VerifierKey } from './key.ts';

const mostBytes = 1 << 20;
const mostSignatures = 100;
const idBytes = 4;

export interface Signature {
  readonly name: string;
  /** Eight hexadecimal digits. */
  readonly keyId: string;
  readonly bytes: Uint8Array;
}

export interface Note {
  /** Ends in a newline. */
  readonly text: string;
  readonly signatures: readonly Signature[];
}

/** The text, signed. */
export function signNote(text: string, signer: SignerKey): string {
  if (!isText(text)) throw new Error(`a note's text ends in a newline and holds no other control character: ${text}`);
  const { name, id } = signer.verifier;
  const signature = Buffer.concat([Buffer.from(id, 'hex'), signWith(signer, text)]).toString('base64');
  return `${text}\n— ${name} ${signature}\n`;
}

/** Reads a note, and believes nothing of it yet. @throws IpledgerError INVALID_REQUEST for what is none. */
export function parseNote(message: string): Note {
  const gap = message.lastIndexOf('\n\n');
  const text = message.slice(0, gap + 1);
  if (Buffer.byteLength(message) > mostBytes || gap < 0 || !isText(text) || !message.endsWith('\n'))
    throw invalid('this is no signed note: a text, an empty line and signatures');
  const lines = message.slice(gap + 2, -1).split('\n');
  if (lines.length > mostSignatures) throw invalid(`this note has more than ${mostSignatures} signatures`);
  return { text, signatures: lines.map(readSignature) };
}

/**
 * Which of these keys signed the note. Signatures of other keys are left aside, as the specification has it.
 * @throws IpledgerError INVALID_REQUEST when a signature of one of the keys is wrong.
 */
export function signersOf({ text, signatures }: Note, keys: readonly VerifierKey[]): VerifierKey[] {
  return signatures.flatMap(({ name, keyId, bytes }) => {
    const key = keys.find((known) => known.name === name && known.id === keyId);
    if (!key) return [];
    if (!isSignedBy(key, text, bytes)) throw invalid(`the signature of ${name} (key ${keyId}) is not of this text`);
    return [key];
  });
}

function readSignature(line: string): Signature {
  const [, name = '', encoded = ''] = /^— (\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (name === '' || bytes.length <= idBytes || bytes.toString('base64') !== encoded)
    throw invalid(`this is no line of a signature: ${line.slice(0, 120)}`);
  refuseName(name);
  return { name, keyId: bytes.subarray(0, idBytes).toString('hex'), bytes: bytes.subarray(idBytes) };
}

// oxlint-disable-next-line no-control-regex -- a note has none but newlines
const isText = (text: string): boolean => text.endsWith('\n') && !/[\u0000-\u0009\u000b-\u001f]/.test(text);

const invalid = (message: string): IpledgerError => new IpledgerError('INVALID_REQUEST', message);
