/** Why nothing can be requested for a Pod. */
export interface PlanProblem {
  /** `request`: the Pod's own annotations are wrong. `cluster`: another object is missing or wrong. */
  readonly about: 'request' | 'cluster';
  readonly text: string;
}

export const requestProblem = (text: string): PlanProblem => ({ about: 'request', text });

export const clusterProblem = (text: string): PlanProblem => ({ about: 'cluster', text });
