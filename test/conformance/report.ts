/** Formats results as text. */
import type { Result } from './run-cases.ts';

/** Formats a case that failed or was skipped, in one line; undefined for a case that passed. */
export function formatFailure(result: Result): string | undefined {
  const { id, area } = result;
  if (result.outcome === 'failed') return `FAILED  ${id}  ${area}: expected ${result.expected}; got ${result.got}`;
  if (result.outcome === 'skipped') return `skipped ${id}  ${area}: ${result.reason}`;
  return undefined;
}

const outcomes = ['passed', 'failed', 'skipped'] as const;

type Counts = Record<(typeof outcomes)[number] | 'deviating', number>;

function countOutcomes(results: readonly Result[]): Counts {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0, deviating: 0 };
  for (const { outcome, deviation } of results) {
    counts[outcome] += 1;
    if (deviation !== undefined) counts.deviating += 1;
  }
  return counts;
}

/** Formats a table with the counts of each area; `deviating` counts cases with a deviation. */
export function formatTable(results: readonly Result[]): string[] {
  const names = [...new Set(results.map(({ area }) => area))].sort();
  const rows = names.map((name) => ({ name, ...countOutcomes(results.filter(({ area }) => area === name)) }));
  const heading = ['area', ...outcomes, 'deviating'] as const;
  const width = Math.max(...names.map(({ length }) => length), heading[0].length);
  const line = (first: string, others: readonly (string | number)[]): string =>
    [first.padEnd(width), ...others.map((each) => String(each).padStart(9))].join(' ');
  return [
    line(heading[0], heading.slice(1)),
    ...rows.map(({ name, ...counts }) =>
      line(
        name,
        [...outcomes, 'deviating' as const].map((key) => counts[key]),
      ),
    ),
  ];
}

/** Formats the last line of the report. */
export function formatSummary(results: readonly Result[]): string {
  const { passed, failed, skipped } = countOutcomes(results);
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
