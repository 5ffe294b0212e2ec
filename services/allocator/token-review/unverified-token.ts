/**
 * The content of a token before its verification. It only decides which review the token gets: that
 * of an agent, or that of a user. Each review verifies the token and rejects the clients of the
 * other one. Pure.
 */
import { asRecord, asText, asTexts } from '../../../lib/kubernetes/untyped-json.ts';
import { isTokenShaped } from '../../../lib/tls/token-file.ts';

export interface UnverifiedToken {
  readonly subject: string;
  readonly audiences: readonly string[];
}

const none: UnverifiedToken = { subject: '', audiences: [] };

/** Reads a JSON Web Token. Empty for a token of another form. */
export function readUnverifiedToken(token: string): UnverifiedToken {
  if (!isTokenShaped(token)) return none;
  try {
    const { sub, aud } = asRecord(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()));
    return { subject: asText(sub), audiences: typeof aud === 'string' ? [aud] : asTexts(aud) };
  } catch {
    return none;
  }
}
