/** What the ledger quotes, as a message about a Pod, in one line: it must not break a row, nor move the terminal's cursor. */
export const printable = (quoted: string): string => quoted.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
