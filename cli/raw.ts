/** Reading JSON that somebody else wrote: what is of another type than expected reads as empty. */

export type Fields = Readonly<Record<string, unknown>>;

/** The value if it is an object, else an empty one. */
export const fields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

/** The value if it is text, else "". */
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** JSON's value; undefined for what is none. */
export function json(value: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return undefined;
  }
}

/** The texts of a list that are not empty. */
export const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(text).filter(Boolean) : []);
