/** Types of an area of cases, and of the functions that execute them. */
import type { Case } from '../case.ts';
import type { Comparison } from '../compare.ts';
import type { Fields, Json } from '../../harness/json.ts';
import type { RunContext } from '../run-context.ts';

/**
 * Executes one case; its `expect` already includes deviations.json.
 * @throws UnsupportedCaseError with the reason; any other error is a failure of the case
 */
export type Execute = (testCase: Case, context: RunContext) => Promise<Comparison> | Comparison;

/** A form of an area's cases, recognized by a key of their `when`. */
export interface Form {
  readonly when: string | RegExp;
  readonly execute: Execute;
}

/**
 * The cases of a lane run one at a time, because they share a resource: `memory` has an allocator
 * for each case, `plugin` runs processes, `cluster` shares one Kubernetes API.
 */
export type Lane = 'memory' | 'plugin' | 'cluster';

export interface Area {
  readonly name: string;
  readonly lane: Lane;
  readonly forms: readonly Form[];
}

/** Compares the case's expectation with a result. */
export const comparisonOf = (testCase: Case, got: Json): Comparison => ({ expected: testCase.expect, got });

/** The result of an operation that failed. */
export const errorResult = (message: string): Fields => ({ error: message });
