/** Reading JSON that somebody else wrote: what is of another type than expected reads as empty. */

export type Raw = Readonly<Record<string, unknown>>;

/** The value if it is an object, else an empty one. */
export function record(value: unknown): Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Raw) : {};
}

/** The value if it is text, else "". */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** JSON's value; undefined for what is none. */
export function json(value: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return undefined;
  }
}

/** A finite number, or undefined. */
export function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The texts of a list that are not empty; whatever else is in it is left out. */
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(text).filter((each) => each !== '') : [];
}
