/**
 * Reads the content of a token before its verification. The content only selects the review: for
 * agents or for users. Each review verifies the token, and rejects tokens of the other kind.
 */
import { asRecord, asText, asTexts } from '../../../lib/kubernetes/untyped-json.ts';
import { isTokenShaped } from '../../../lib/tls/token-file.ts';

export interface UnverifiedToken {
  readonly subject: string;
  readonly audiences: readonly string[];
}

const none: UnverifiedToken = { subject: '', audiences: [] };

/** Reads a JSON Web Token. Returns an empty result for a token of another form. */
export function readUnverifiedToken(token: string): UnverifiedToken {
  if (!isTokenShaped(token)) return none;
  try {
    const { sub, aud } = asRecord(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()));
    return { subject: asText(sub), audiences: typeof aud === 'string' ? [aud] : asTexts(aud) };
  } catch {
    return none;
  }
}
