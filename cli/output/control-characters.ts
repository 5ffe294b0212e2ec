/** Replaces control characters, so that quoted text neither breaks rows nor moves the cursor. */
export const escapeControlCharacters = (quoted: string): string =>
  quoted.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
