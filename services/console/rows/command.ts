/** Commands of `ipledger` with the same answer as a page. */

/** A text as one shell argument. */
const quote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** A command that can be pasted into a shell. Options with '' are left out. */
export function ipledger(words: readonly string[], options: Readonly<Record<string, string | number>> = {}): string {
  const given = Object.entries(options).flatMap(([name, value]) => (value === '' ? [] : [`--${name}`, String(value)]));
  return ['ipledger', ...words, ...given].map(quote).join(' ');
}
