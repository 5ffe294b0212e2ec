/** Tables as kubectl prints them: columns two spaces apart, no lines, nothing behind the last word of a row. */

/**
 * One line for the head and each row. An empty cell shows as "-", so that columns can be counted by `awk`.
 * Laid out here because a package for it looked at every row for each row: 50,000 of them took it a minute.
 */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows.map((row) => row.map((cell) => printable(cell) || '-'))];
  const widths = head.map((_, column) => lines.reduce((most, line) => Math.max(most, line[column]?.length ?? 0), 0));
  const laidOut = lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return laidOut.map((line) => `${line.trimEnd()}\n`).join('');
}

/** What the ledger quotes, as a message about a Pod, must not break the row or move the terminal's cursor. */
const printable = (cell: string): string => cell.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
