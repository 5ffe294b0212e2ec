/**
 * Escapes the characters that change how a text is shown, but not its content: control characters,
 * terminal escapes, bidirectional overrides, invisible characters, line separators and unpaired
 * surrogates. Texts of tenants are in messages, Events and logs.
 */

const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Replaces each by its code: "\u001b". A text without them is returned as it is. */
export const escapeUnprintable = (text: string): string => text.replaceAll(unprintable, codeOf);

/** Escapes like `escapeUnprintable`, but keeps line feeds and tabs of a message. */
export const escapeUnprintableInLines = (text: string): string =>
  text.replaceAll(unprintable, (character) =>
    character === '\n' || character === '\t' ? character : codeOf(character),
  );

/** Escapes them in a line of JSON, which parses to the same value. */
export const escapeUnprintableJson = (line: string): string =>
  line.replaceAll(unprintable, (character) => (character === '\n' ? character : codeUnitsOf(character)));

export const isPrintable = (text: string): boolean => text.search(unprintable) < 0;

/** The character as JSON writes it: one code for each 16 bits. */
const codeUnitsOf = (character: string): string =>
  Array.from({ length: character.length }, (_, index) => codeOf(character.charAt(index))).join('');

function codeOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
