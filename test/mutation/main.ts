/**
 * `make mutation`: mutates a sample of the sources, one change at a time, and runs specs that
 * import the changed file: the nearest unit specs, then the specs on a real etcd in its folder,
 * then the other unit specs, until one is red. Before specs count as a kill they run without a
 * mutant; if they are red, the run ends. It prints the outcome of each mutant, and exits with 1 if
 * fewer than 90 % are killed.
 *
 *   SAMPLE=100    mutants
 *   SEED=n        the sample
 *   FROM=n        continues a stopped run of this sample with its mutant n
 *   FOLDER=path   folders or files, with commas; default: the rules, the log and the controllers
 *   JOBS=n        mutants at the same time
 */
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createSource } from '../faults/seeded-random.ts';
import { whyEquivalent } from './equivalent-mutants.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { runSpecs, type SpecOutcome, unchanged } from './run-specs.ts';
import { createSpecGraph, root } from './spec-graph.ts';

const folders = 'ledger/domain,ledger/log,services/pod-watcher/controllers';
const { SAMPLE = '100', SEED = '1', FROM = '1', FOLDER = folders, JOBS = String(availableParallelism()) } = process.env;
/** The number of the nearest specs, which a mutant meets first. */
const nearest = 8;
/**
 * The number of specs of each later set. A run of more reaches its time limit on a slow machine.
 */
const setSize = 24;
const goal = 0.9;

const specsOf = createSpecGraph();
const sources = FOLDER.split(',')
  .flatMap((path) => globSync(path.endsWith('.ts') ? path : `${path}/**/*.ts`, { cwd: root }))
  .filter((file) => !/\.(spec|contract|fixture)\.ts$|\/testing\//.test(file));
const all = sources.flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')));
const sample = createSource(Number(SEED)).shuffle(all).slice(0, Number(SAMPLE));
console.log(`${sample.length} of ${all.length} mutants in ${sources.length} files, SEED=${SEED}`);

const counts: Record<SpecOutcome | 'equivalent', number> = { killed: 0, 'timed out': 0, survived: 0, equivalent: 0 };
/** Specs that passed in this run, so that they are not red without a mutant. */
const green = new Set<string>();
const waiting = [...sample.entries()].slice(Number(FROM) - 1);
await Promise.all(Array.from({ length: Number(JOBS) }, work));
const score = counts.killed / Math.max(1, counts.killed + counts['timed out'] + counts.survived);
console.log(
  `${counts.killed} killed, ${counts['timed out']} by a timeout only, ${counts.survived} survived, ${counts.equivalent} change nothing: ${(100 * score).toFixed(1)} %`,
);
process.exitCode = score >= goal ? 0 : 1;

async function work(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [index, mutant] = next;
    const { file, line, from, to } = mutant;
    const isEquivalent = whyEquivalent(mutant, readFileSync(join(root, file), 'utf8')) !== undefined;
    const outcome = isEquivalent ? 'equivalent' : await tryOne(mutant);
    counts[outcome]++;
    console.log(`${index + 1} ${outcome}: ${file}:${line}: ${from}  →  ${to}`);
  }
}

/** Runs specs once without a mutant. @throws Error if they are red: they would kill each mutant */
async function requireGreen(file: string, specs: readonly string[]): Promise<void> {
  const unknown = specs.filter((spec) => !green.has(spec));
  if (unknown.length === 0) return;
  const { outcome, output } = await runSpecs(unchanged(file), unknown);
  if (outcome !== 'survived') throw new Error(`without a mutant these specs are red: ${unknown.join(' ')}\n${output}`);
  for (const spec of unknown) green.add(spec);
}

/** Returns the specs that a mutant of a file meets, one set after the other. */
function specSetsOf(file: string): (readonly string[])[] {
  const { unit, int } = specsOf(file);
  const sets = [unit.slice(0, nearest), int];
  for (let from = nearest; from < unit.length; from += setSize) sets.push(unit.slice(from, from + setSize));
  return sets.filter((set) => set.length > 0);
}

async function tryOne(mutant: Mutant): Promise<SpecOutcome> {
  for (const specs of specSetsOf(mutant.file)) {
    const { outcome } = await runSpecs(mutant, specs);
    if (outcome === 'survived') {
      for (const spec of specs) green.add(spec);
      continue;
    }
    await requireGreen(mutant.file, specs);
    return outcome;
  }
  return 'survived';
}
