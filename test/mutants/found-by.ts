/**
 * The record of `make mutants`: which suites found which planted bug, and the column of
 * docs/guarantees.md that counts them for each promise.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of the suites that found a planted bug, by its name. */
export type Finders = ReadonlyMap<string, readonly string[]>;

/** The suite that counts for a bug which seeds of the simulation found. */
export const simulation = 'test/simulation/simulation.unit.spec.ts';

const root = join(import.meta.dirname, '..', '..');
const record = join(import.meta.dirname, 'found-by.json');
const guarantees = join(root, 'docs', 'guarantees.md');

/** Reads the finds of the last runs. */
export function readFinders(): Map<string, readonly string[]> {
  return new Map(Object.entries(JSON.parse(readFileSync(record, 'utf8')) as Record<string, string[]>));
}

/** Writes the finds, in the order of the names and paths. */
export function writeFinders(finders: Finders): void {
  const entries = [...finders].map(([name, suites]) => [name, [...suites].sort()] as const);
  const sorted = Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(record, `${JSON.stringify(sorted, undefined, 2)}\n`);
}

/** Writes the last column of each promise. */
export function countInGuarantees(finders: Finders): void {
  writeFileSync(guarantees, withCounts(readFileSync(guarantees, 'utf8'), finders));
}

/**
 * The simulation is not counted: it attacks many promises at once, and its finds would be in each.
 *
 * @returns the document, with the number of planted bugs that the suites of each row found
 */
export function withCounts(document: string, finders: Finders): string {
  return document.replaceAll(/^(\| .* \| `.*`) \| [\d–]+ \|$/gm, (_, row: string) => {
    const suites = new Set([...row.matchAll(/`([^`]+)`/g)].map(([, suite]) => suite));
    suites.delete(simulation);
    const found = [...finders.values()].filter((each) => each.some((suite) => suites.has(suite)));
    return `${row} | ${found.length || '–'} |`;
  });
}
