/** The outcome of planning steps: a value, or the reason why there is none. A rejected annotation is a result, not an exception. */
export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export function ok<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function problem(sentence: string): Result<never> {
  return { ok: false, problem: sentence };
}

/** Why nothing can be requested for a Pod. */
export interface PlanProblem {
  /** `request`: the Pod's own annotations are wrong. `cluster`: another object is missing or wrong. */
  readonly about: 'request' | 'cluster';
  readonly text: string;
}

export const requestProblem = (text: string): PlanProblem => ({ about: 'request', text });

export const clusterProblem = (text: string): PlanProblem => ({ about: 'cluster', text });
