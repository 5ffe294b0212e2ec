/** Executes cases, each area in its own way, and says of each how it went. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openRun } from '../harness/run.ts';
import { areas } from './areas.ts';
import type { Area, Form, Lane } from './areas/area.ts';
import { CannotExecute, type Case } from './case.ts';
import { describe, differences } from './compare.ts';
import { wantedOf } from './deviations.ts';
import { shown } from './json.ts';
import { openStage, type Stage } from './stage.ts';

/** How a case went. */
export type Outcome =
  | { readonly outcome: 'passed' }
  | { readonly outcome: 'failed'; readonly expected: string; readonly got: string }
  | { readonly outcome: 'skipped'; readonly reason: string };

export type Result = Outcome & {
  readonly id: string;
  readonly area: string;
  /** The behaviour on which we decided otherwise, where the expectation is from there. */
  readonly deviation: string | undefined;
};

const caseTimeoutMs = 180_000;

/**
 * Runs cases on real parts, which are started for it and end with it.
 * @param onResult is told each result as it comes.
 * @returns the results in the order of the cases.
 */
export async function run(
  cases: readonly Case[],
  onResult: (result: Result) => void = () => undefined,
): Promise<Result[]> {
  const scope = openRun();
  const stage = openStage(scope);
  const results = new Map<string, Result>();
  const carryOut = async (lane: Lane): Promise<void> => {
    for (const the of cases.filter(({ area }) => laneOf(area) === lane)) {
      const result = await resultOf(the, stage);
      results.set(the.id, result);
      onResult(result);
    }
  };
  try {
    await Promise.all((['memory', 'plugin', 'cluster'] as const).map(carryOut));
  } finally {
    await scope.end();
  }
  return cases.flatMap(({ id }) => results.get(id) ?? []);
}

const laneOf = (area: string): Lane => areas.find(({ name }) => name === area)?.lane ?? 'memory';

async function resultOf(the: Case, stage: Stage): Promise<Result> {
  const { expect, deviation } = wantedOf(the);
  return { id: the.id, area: the.area, deviation, ...(await outcomeOf({ ...the, expect }, stage)) };
}

/** Executes one case, and holds it to what it expects itself. */
export async function outcomeOf(the: Case, stage: Stage): Promise<Outcome> {
  try {
    const { expected, got } = await inTime(async () => formOf(the).execute(the, stage));
    const found = differences(expected, got);
    return found.length === 0 ? { outcome: 'passed' } : { outcome: 'failed', ...describe(found) };
  } catch (error) {
    if (error instanceof CannotExecute) return { outcome: 'skipped', reason: error.message };
    return { outcome: 'failed', expected: shown(the.expect), got: `it broke off: ${messageOf(error)}` };
  }
}

function messageOf(error: unknown): string {
  if (error instanceof SuppressedError) return `${messageOf(error.suppressed)}; then ${messageOf(error.error)}`;
  return error instanceof Error ? error.message : String(error);
}

/** @throws CannotExecute */
function formOf({ area, when }: Case): Form {
  const known: Area | undefined = areas.find(({ name }) => name === area);
  if (!known) throw new CannotExecute(`area ${area}: not understood`);
  const keys = Object.keys(when);
  const form = known.forms.find(({ when: wanted }) =>
    keys.some((key) => (typeof wanted === 'string' ? key === wanted : wanted.test(key))),
  );
  if (!form) throw new CannotExecute(`when ${keys.map((key) => JSON.stringify(key)).join(', ')}: not understood`);
  return form;
}

async function inTime<T>(work: () => Promise<T>): Promise<T> {
  const late = new AbortController();
  try {
    return await Promise.race([
      work(),
      sleep(caseTimeoutMs, undefined, { signal: late.signal }).then((): never => {
        throw new Error(`not done after ${caseTimeoutMs / 1_000} s`);
      }),
    ]);
  } finally {
    late.abort();
  }
}
