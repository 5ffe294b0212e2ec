/** The expiry of a token, with which its session ends. The allocator verifies the token. */
import { asRecord } from '../../../lib/kubernetes/untyped-json.ts';

/** Returns milliseconds since 1970; undefined for a token without an end. */
export function tokenExpiry(token: string): number | undefined {
  try {
    const { exp } = asRecord(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()));
    return typeof exp === 'number' ? exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
