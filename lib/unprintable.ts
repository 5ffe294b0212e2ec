/**
 * Escapes characters that change how a text is displayed: control characters, terminal escapes,
 * bidirectional overrides, invisible characters, line separators and unpaired surrogates. Messages,
 * Events and logs contain texts of tenants.
 */

const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Replaces each such character by its code, such as "\u001b". */
export const escapeUnprintable = (text: string): string => text.replaceAll(unprintable, codeOf);

/** Escapes like `escapeUnprintable`, but keeps line feeds and tabs of a message. */
export const escapeUnprintableInLines = (text: string): string =>
  text.replaceAll(unprintable, (character) =>
    character === '\n' || character === '\t' ? character : codeOf(character),
  );

/** Escapes a line of JSON. The result parses to the same value. */
export const escapeUnprintableJson = (line: string): string =>
  line.replaceAll(unprintable, (character) => (character === '\n' ? character : codeUnitsOf(character)));

export const isPrintable = (text: string): boolean => text.search(unprintable) < 0;

/** The code of a character in JSON: one code for each 16 bits. */
const codeUnitsOf = (character: string): string =>
  Array.from({ length: character.length }, (_, index) => codeOf(character.charAt(index))).join('');

function codeOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
