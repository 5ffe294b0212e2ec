/** The result of a step: a value, or the reason why there is none. It replaces an exception. */
export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function problem(sentence: string): Result<never> {
  return { ok: false, problem: sentence };
}
