/**
 * Signed notes as in c2sp.org/signed-note: a text that ends in a newline, an empty line, and one
 * line for each signature.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { isSignedBy, assertKeyName, type SignerKey, signWith, type VerifierKey } from './signing-key.ts';

const maxNoteBytes = 1 << 20;
const maxSignatures = 100;
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

export function signNote(text: string, signer: SignerKey): string {
  if (!isText(text))
    throw new Error(`the text of a note must end in a newline and have no other control character: ${text}`);
  const { name, id } = signer.verifier;
  const signature = Buffer.concat([Buffer.from(id, 'hex'), signWith(signer, text)]).toString('base64');
  return `${text}\n— ${name} ${signature}\n`;
}

/**
 * Parses a note without checking its signatures.
 * @throws IpledgerError INVALID_REQUEST for any other text.
 */
export function parseNote(message: string): Note {
  const separator = message.lastIndexOf('\n\n');
  const text = message.slice(0, separator + 1);
  if (Buffer.byteLength(message) > maxNoteBytes || separator < 0 || !isText(text) || !message.endsWith('\n'))
    throw invalid('this is not a signed note: expected a text, an empty line and signatures');
  const lines = message.slice(separator + 2, -1).split('\n');
  if (lines.length > maxSignatures) throw invalid(`this note has more than ${maxSignatures} signatures`);
  return { text, signatures: lines.map(readSignature) };
}

/**
 * Returns those of `keys` that signed the note. Other signatures are ignored, as the specification
 * requires.
 * @throws IpledgerError INVALID_REQUEST if a signature of one of `keys` is wrong.
 */
export function verifiedSigners({ text, signatures }: Note, keys: readonly VerifierKey[]): VerifierKey[] {
  return signatures.flatMap(({ name, keyId, bytes }) => {
    const key = keys.find((each) => each.name === name && each.id === keyId);
    if (!key) return [];
    if (!isSignedBy(key, text, bytes))
      throw invalid(`the signature of ${name} (key ${keyId}) does not match this text`);
    return [key];
  });
}

function readSignature(line: string): Signature {
  const [, name = '', encoded = ''] = /^— (\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (name === '' || bytes.length <= idBytes || bytes.toString('base64') !== encoded)
    throw invalid(`this is not a signature line: ${line.slice(0, 120)}`);
  assertKeyName(name);
  return { name, keyId: bytes.subarray(0, idBytes).toString('hex'), bytes: bytes.subarray(idBytes) };
}

// oxlint-disable-next-line no-control-regex -- newline is the only control character of a note
const isText = (text: string): boolean => text.endsWith('\n') && !/[\u0000-\u0009\u000b-\u001f]/.test(text);

const invalid = (message: string): IpledgerError => new IpledgerError('INVALID_REQUEST', message);
