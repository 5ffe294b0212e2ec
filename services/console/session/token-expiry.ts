/** When a token ends. The allocator verifies it: this only ends a session in time. */
import { asRecord } from '../../../lib/kubernetes/untyped-json.ts';

/** Milliseconds since 1970; undefined for a token without it. */
export function tokenExpiry(token: string): number | undefined {
  try {
    const { exp } = asRecord(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()));
    return typeof exp === 'number' ? exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
