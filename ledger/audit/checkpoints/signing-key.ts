/**
 * Keys that sign checkpoints: Ed25519, in the text format of the tools for C2SP signed notes.
 *
 *   verifier  <name>+<key id>+<base64(0x01 || public key)>
 *   signer    PRIVATE+KEY+<name>+<key id>+<base64(0x01 || seed)>
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { IpledgerError } from '../../../lib/errors.ts';

/** The signature type of the specification for Ed25519 over the text of the note. */
const ed25519 = 0x01;
const keyBytes = 32;
/** The bytes before the seed in a PKCS #8 private key of Ed25519 (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const signerPrefix = 'PRIVATE+KEY+';

/** A public key. */
export interface VerifierKey {
  readonly name: string;
  /** Eight hexadecimal digits; identifies the key together with the name. */
  readonly id: string;
  readonly publicKey: KeyObject;
  /** The key in its text format. */
  readonly text: string;
}

/** A private key. */
export interface SignerKey {
  readonly verifier: VerifierKey;
  readonly privateKey: KeyObject;
}

/**
 * Creates a key pair in its text format. `name` is usually a URL without its scheme.
 * @throws IpledgerError INVALID_REQUEST
 */
export function generateKey(name: string): { readonly signer: string; readonly verifier: string } {
  assertKeyName(name);
  const { privateKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(pkcs8Prefix.length);
  const verifier = verifierOf(name, createPublicKey(privateKey));
  return { signer: signerPrefix + formatKey(name, verifier.id, seed), verifier: verifier.text };
}

/** @throws IpledgerError INVALID_REQUEST for any other text. */
export function parseVerifierKey(text: string): VerifierKey {
  const { name, id, key } = parseKey(text.trim(), 'verifier key');
  const x = key.toString('base64url');
  const verifier = verifierOf(name, createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }));
  if (verifier.id !== id) throw changedKey(name, verifier.id, id);
  return verifier;
}

/**
 * @throws IpledgerError INVALID_REQUEST for any other text. The error does not contain the text.
 */
export function parseSignerKey(text: string): SignerKey {
  if (!text.startsWith(signerPrefix)) throw invalid(`this is not a signer key: it must begin with ${signerPrefix}`);
  const { name, id, key } = parseKey(text.trim().slice(signerPrefix.length), 'signer key');
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, key]), format: 'der', type: 'pkcs8' });
  const verifier = verifierOf(name, createPublicKey(privateKey));
  if (verifier.id !== id) throw changedKey(name, verifier.id, id);
  return { verifier, privateKey };
}

const changedKey = (name: string, id: string, statedId: string): IpledgerError =>
  invalid(`the key ${name} was changed: its key id is ${id}, not ${statedId}. Copy the key again`);

export const signWith = ({ privateKey }: SignerKey, text: string): Buffer => sign(null, Buffer.from(text), privateKey);

/** Whether this key made this signature for this text. */
export const isSignedBy = ({ publicKey }: VerifierKey, text: string, signature: Uint8Array): boolean =>
  verify(null, Buffer.from(text), publicKey, signature);

/** @throws IpledgerError INVALID_REQUEST for a name that is not allowed in a signature line. */
export function assertKeyName(name: string): void {
  if (name === '' || /[\s+\p{Z}\p{Cc}]/u.test(name))
    throw invalid(
      `"${name.slice(0, 200)}" is not a key name: use a name without spaces and "+", such as example.com/ipledger`,
    );
}

function verifierOf(name: string, publicKey: KeyObject): VerifierKey {
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const typed = Buffer.concat([Buffer.from([ed25519]), raw]);
  const id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), typed]), 'hex').slice(0, 8);
  return { name, id, publicKey, text: formatKey(name, id, raw) };
}

const formatKey = (name: string, id: string, key: Buffer): string =>
  `${name}+${id}+${Buffer.concat([Buffer.from([ed25519]), key]).toString('base64')}`;

function parseKey(text: string, kind: string): { name: string; id: string; key: Buffer } {
  // Only the first two "+" are separators: "+" is also a digit of base64.
  const [, name, id, encoded] = /^([^+]*)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text) ?? [];
  const typed = Buffer.from(encoded ?? '', 'base64');
  if (name === undefined || id === undefined || typed[0] !== ed25519 || typed.length !== keyBytes + 1)
    throw invalid(`this is not an Ed25519 ${kind}: expected <name>+<key id>+<base64>`);
  assertKeyName(name);
  return { name, id, key: typed.subarray(1) };
}

const invalid = (message: string): IpledgerError => new IpledgerError('INVALID_REQUEST', message);
