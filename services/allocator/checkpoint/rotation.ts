/** One key gives way to the next: the old one signs the new one, and the ledger tells of it. */
import type { KeyRotated } from '../domain/event.ts';
import { isSignedBy, parseVerifierKey, type SignerKey, signWith, type VerifierKey } from './key.ts';

/** What the old key signs: of this ledger, and of nothing else. */
const rotationText = (ledger: string, publicKey: string): string =>
  `ipledger key rotation\nipledger/${ledger}\n${publicKey}\n`;

/** What the event says of it. */
export const rotate = (ledger: string, old: SignerKey, next: VerifierKey): KeyRotated['data'] => ({
  publicKey: next.text,
  keyId: next.id,
  previousKeyId: old.verifier.id,
  signature: signWith(old, rotationText(ledger, next.text)).toString('base64'),
});

/** The new key, where the old one really signed it for this ledger; undefined where it did not. */
export function rotatedTo(ledger: string, old: VerifierKey, data: KeyRotated['data']): VerifierKey | undefined {
  try {
    const { publicKey, signature } = data;
    if (!isSignedBy(old, rotationText(ledger, publicKey), Buffer.from(signature, 'base64'))) return undefined;
    const key = parseVerifierKey(publicKey);
    return key.id === data.keyId ? key : undefined;
  } catch {
    return undefined; // it is no key, or no signature
  }
}
