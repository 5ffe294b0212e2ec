/** The result of parsing a request: a value, or the reason why there is none. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export const parsed = <T>(value: T): Parsed<T> => ({ ok: true, value });

export const failed = (problem: string): Parsed<never> => ({ ok: false, problem });
