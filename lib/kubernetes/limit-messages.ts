/** Builds messages for fields of Kubernetes objects that exceed their limits. */

/** Builds the message for a value over its limit: the value, its size, the limit, the remedy. */
export function limitExceeded(
  what: string,
  {
    has,
    most,
    unit,
    remedy,
  }: { readonly has: number; readonly most: number; readonly unit: string; readonly remedy: string },
): string {
  return `${what} has ${has} ${unit}, and at most ${most} are taken: ${remedy}`;
}

/** Returns the message for a text that is too long; undefined if it is not. */
export function tooLong(what: string, { length }: string, most: number): string | undefined {
  return length > most
    ? limitExceeded(what, { has: length, most, unit: 'characters', remedy: 'shorten it' })
    : undefined;
}

/** Returns the message for a list that is too long; undefined if it is not. */
export function tooMany(
  what: string,
  { length }: readonly unknown[],
  { most, unit }: { readonly most: number; readonly unit: string },
): string | undefined {
  return length > most ? limitExceeded(what, { has: length, most, unit, remedy: 'remove some' }) : undefined;
}

const quotedLength = 120;

/** Shortens a text, so that the message still has room for the remedy. */
export function truncate(text: string): string {
  return text.length <= quotedLength ? text : `${text.slice(0, quotedLength)}…`;
}
