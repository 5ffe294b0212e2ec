/** Key rotation: the old checkpoint key signs the new one, and an event records it. */
import type { KeyRotation } from '../../domain/values/ledger.ts';
import { isSignedBy, parseVerifierKey, type SignerKey, signWith, type VerifierKey } from './signing-key.ts';

/**
 * The text that the old key signs. It names the ledger, so the signature is valid only for this
 * ledger.
 */
const rotationText = (ledger: string, publicKey: string): string =>
  `ipledger key rotation\nipledger/${ledger}\n${publicKey}\n`;

/** The data of the KeyRotated event. */
export const signRotation = (ledger: string, old: SignerKey, next: VerifierKey): KeyRotation => ({
  publicKey: next.text,
  keyId: next.id,
  previousKeyId: old.verifier.id,
  signature: signWith(old, rotationText(ledger, next.text)).toString('base64'),
});

/** Returns the new key if the old key signed it for this ledger; otherwise undefined. */
export function verifyRotation(ledger: string, old: VerifierKey, data: KeyRotation): VerifierKey | undefined {
  try {
    const { publicKey, signature } = data;
    if (!isSignedBy(old, rotationText(ledger, publicKey), Buffer.from(signature, 'base64'))) return undefined;
    const key = parseVerifierKey(publicKey);
    return key.id === data.keyId ? key : undefined;
  } catch {
    return undefined; // the event has no valid key or signature
  }
}
