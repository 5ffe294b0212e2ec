/**
 * The claims of a token before its verification. They only decide which review it gets: that of an agent, or that of a user. Each
 * review verifies the token and rejects the clients of the other one. Pure.
 */
import { asRecord, asText, asTexts } from '../../../lib/kubernetes/untyped-json.ts';
import { isTokenShaped } from '../../../lib/tls/token-file.ts';

export interface UnverifiedClaims {
  readonly subject: string;
  readonly audiences: readonly string[];
}

const none: UnverifiedClaims = { subject: '', audiences: [] };

/** Reads the claims of a JSON Web Token. Without claims for a token of another form. */
export function readUnverifiedClaims(token: string): UnverifiedClaims {
  if (!isTokenShaped(token)) return none;
  try {
    const { sub, aud } = asRecord(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()));
    return { subject: asText(sub), audiences: typeof aud === 'string' ? [aud] : asTexts(aud) };
  } catch {
    return none;
  }
}
