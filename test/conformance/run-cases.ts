/** Runs cases, in three lanes at the same time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openRun } from '../harness/run.ts';
import { areas } from './areas.ts';
import type { Area, Form, Lane } from './areas/area.ts';
import { UnsupportedCaseError, type Case } from './case.ts';
import { describeDifferences, findDifferences } from './compare.ts';
import { expectationOf } from './deviations.ts';
import { formatJson } from '../harness/json.ts';
import { openRunContext, type RunContext } from './run-context.ts';

/** The outcome of a case. */
export type Outcome =
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'failed'; readonly expected: string; readonly got: string }
  | { readonly outcome: 'skipped'; readonly reason: string };

export type Result = Outcome & {
  readonly id: string;
  readonly area: string;
  /** The behaviour of the deviation that applies; undefined if none does. */
  readonly deviation: string | undefined;
};

const caseTimeoutMs = 180_000;

/**
 * Runs cases; starts the servers that they need, and ends them.
 * @param onResult called with each result when its case ends
 * @returns the results in the order of the cases
 */
export async function runCases(
  cases: readonly Case[],
  onResult: (result: Result) => void = () => undefined,
): Promise<Result[]> {
  const run = openRun();
  const context = openRunContext(run);
  const results = new Map<string, Result>();
  const runLane = async (lane: Lane): Promise<void> => {
    for (const testCase of cases.filter(({ area }) => laneOf(area) === lane)) {
      const result = await resultOf(testCase, context);
      results.set(testCase.id, result);
      onResult(result);
    }
  };
  try {
    await Promise.all((['memory', 'plugin', 'cluster'] as const).map(runLane));
  } finally {
    await run.end();
  }
  return cases.flatMap(({ id }) => results.get(id) ?? []);
}

const laneOf = (area: string): Lane => areas.find(({ name }) => name === area)?.lane ?? 'memory';

async function resultOf(testCase: Case, context: RunContext): Promise<Result> {
  const { expect, deviation } = expectationOf(testCase);
  return { id: testCase.id, area: testCase.area, deviation, ...(await runCase({ ...testCase, expect }, context)) };
}

/** Executes one case and compares the result with its `expect`. */
export async function runCase(testCase: Case, context: RunContext): Promise<Outcome> {
  try {
    const { expected, got } = await withTimeout(async () => formOf(testCase).execute(testCase, context));
    const found = findDifferences(expected, got);
    return found.length === 0 ? { outcome: 'passed' } : { outcome: 'failed', ...describeDifferences(found) };
  } catch (error) {
    if (error instanceof UnsupportedCaseError) return { outcome: 'skipped', reason: error.message };
    return { outcome: 'failed', expected: formatJson(testCase.expect), got: `error: ${messageOf(error)}` };
  }
}

function messageOf(error: unknown): string {
  if (error instanceof SuppressedError) return `${messageOf(error.suppressed)}; then ${messageOf(error.error)}`;
  return error instanceof Error ? error.message : String(error);
}

/** @throws UnsupportedCaseError */
function formOf({ area, when }: Case): Form {
  const definition: Area | undefined = areas.find(({ name }) => name === area);
  if (!definition) throw new UnsupportedCaseError(`area ${area}: unsupported`);
  const keys = Object.keys(when);
  const form = definition.forms.find(({ when: pattern }) =>
    keys.some((key) => (typeof pattern === 'string' ? key === pattern : pattern.test(key))),
  );
  if (!form) throw new UnsupportedCaseError(`when ${keys.map((key) => JSON.stringify(key)).join(', ')}: unsupported`);
  return form;
}

async function withTimeout<T>(work: () => Promise<T>): Promise<T> {
  const timeout = new AbortController();
  try {
    return await Promise.race([
      work(),
      sleep(caseTimeoutMs, undefined, { signal: timeout.signal }).then((): never => {
        throw new Error(`timed out after ${caseTimeoutMs / 1_000} s`);
      }),
    ]);
  } finally {
    timeout.abort();
  }
}
