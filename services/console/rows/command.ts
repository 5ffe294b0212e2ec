/** Commands of `ipledger` with the same answer as a page. */

/** A text as one shell argument. */
const quote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/**
 * A command that can be pasted into a shell. Options with '' are left out.
 * @param words the verb and its arguments. One that begins with "-" must not become an option.
 */
export function ipledger(words: readonly string[], options: Readonly<Record<string, string | number>> = {}): string {
  const given = Object.entries(options).flatMap(([name, value]) => (value === '' ? [] : option(name, String(value))));
  const [verb = '', ...args] = words;
  const isLikeOption = args.some((word) => word.startsWith('-'));
  const parts = isLikeOption ? [verb, ...given, '--', ...args] : [verb, ...args, ...given];
  return ['ipledger', ...parts].map(quote).join(' ');
}

const option = (name: string, value: string): string[] =>
  value.startsWith('-') ? [`--${name}=${value}`] : [`--${name}`, value];
