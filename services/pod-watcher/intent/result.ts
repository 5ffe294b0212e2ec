/** A value, or the sentence that says why there is none. A refusal is no exception: it is what a person will read. */
export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function problem(sentence: string): Result<never> {
  return { ok: false, problem: sentence };
}
