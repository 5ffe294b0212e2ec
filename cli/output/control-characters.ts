/** Replaces control characters of quoted text, as a message about a Pod, so that it neither breaks a row nor moves the terminal's cursor. */
export const escapeControlCharacters = (quoted: string): string =>
  quoted.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
