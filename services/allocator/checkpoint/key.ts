/**
 * Keys of checkpoints: Ed25519, written as the tools for C2SP signed notes write theirs, so that these read ours.
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

/** Signature type of the specification: Ed25519 over the note's text. */
const ed25519 = 0x01;
const keyBytes = 32;
/** What stands before the seed in a PKCS #8 private key of Ed25519 (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const signerPrefix = 'PRIVATE+KEY+';

/** What a signature is checked with. */
export interface VerifierKey {
  readonly name: string;
  /** Eight hexadecimal digits; with the name it tells which key signed. */
  readonly id: string;
  readonly publicKey: KeyObject;
  /** The key as it is written down. */
  readonly text: string;
}

/** What signs. */
export interface SignerKey {
  readonly verifier: VerifierKey;
  readonly privateKey: KeyObject;
}

/** A new key, as its file holds it. `name` is what the key is known by; a URL without its scheme is usual. @throws IpledgerError INVALID_REQUEST */
export function generateKey(name: string): { readonly signer: string; readonly verifier: string } {
  refuseName(name);
  const { privateKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(pkcs8Prefix.length);
  const verifier = verifierOf(name, createPublicKey(privateKey));
  return { signer: signerPrefix + written(name, verifier.id, seed), verifier: verifier.text };
}

/** @throws IpledgerError INVALID_REQUEST for a text that is no verifier key. */
export function parseVerifierKey(text: string): VerifierKey {
  const { name, id, key } = parts(text.trim(), 'verifier key');
  const x = key.toString('base64url');
  const verifier = verifierOf(name, createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }));
  if (verifier.id !== id) throw invalid(`the key id of ${name} is ${verifier.id}, and not ${id}: this key was altered`);
  return verifier;
}

/** @throws IpledgerError INVALID_REQUEST for a text that is no signer key; the text is not repeated. */
export function parseSignerKey(text: string): SignerKey {
  if (!text.startsWith(signerPrefix)) throw invalid(`this is no signer key: it would begin with ${signerPrefix}`);
  const { name, id, key } = parts(text.trim().slice(signerPrefix.length), 'signer key');
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, key]), format: 'der', type: 'pkcs8' });
  const verifier = verifierOf(name, createPublicKey(privateKey));
  if (verifier.id !== id) throw invalid(`the key id of ${name} is ${verifier.id}, and not ${id}: this key was altered`);
  return { verifier, privateKey };
}

/** The 64 bytes of an Ed25519 signature. */
export const signWith = ({ privateKey }: SignerKey, text: string): Buffer => sign(null, Buffer.from(text), privateKey);

/** Whether a signature is this key's, of just this text. */
export const isSignedBy = ({ publicKey }: VerifierKey, text: string, signature: Uint8Array): boolean =>
  verify(null, Buffer.from(text), publicKey, signature);

/** @throws IpledgerError INVALID_REQUEST for a name that cannot stand in a signature line. */
export function refuseName(name: string): void {
  if (name === '' || /[\s+\p{Z}\p{Cc}]/u.test(name))
    throw invalid(`a key's name is a text without spaces or "+", as example.com/ipledger: "${name}"`);
}

function verifierOf(name: string, publicKey: KeyObject): VerifierKey {
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const typed = Buffer.concat([Buffer.from([ed25519]), raw]);
  const id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), typed]), 'hex').slice(0, 8);
  return { name, id, publicKey, text: written(name, id, raw) };
}

const written = (name: string, id: string, key: Buffer): string =>
  `${name}+${id}+${Buffer.concat([Buffer.from([ed25519]), key]).toString('base64')}`;

function parts(text: string, what: string): { name: string; id: string; key: Buffer } {
  // Of base64 a "+" is a digit: only the first two part anything.
  const [, name, id, encoded] = /^([^+]*)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text) ?? [];
  const typed = Buffer.from(encoded ?? '', 'base64');
  if (name === undefined || id === undefined || typed[0] !== ed25519 || typed.length !== keyBytes + 1)
    throw invalid(`this is no Ed25519 ${what}: it would be <name>+<key id>+<base64>`);
  refuseName(name);
  return { name, id, key: typed.subarray(1) };
}

const invalid = (message: string): IpledgerError => new IpledgerError('INVALID_REQUEST', message);
