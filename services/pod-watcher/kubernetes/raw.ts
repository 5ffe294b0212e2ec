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
