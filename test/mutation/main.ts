/**
 * `make mutation`: mutates a sample of the sources, one change at a time, and runs the unit specs
 * that import the changed file. It first runs them without a mutant, and ends if they are red. It
 * prints the mutants that no spec kills, or only by a timeout, and exits with 1 if fewer than 90 %
 * are killed.
 *
 *   SAMPLE=100    mutants
 *   SEED=n        the sample
 *   FOLDER=path   default: the rules, the log and the controllers
 *   JOBS=n        mutants at the same time
 *   WIDE=1        a survivor also meets all other unit specs that import its file
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
const { SAMPLE = '100', SEED = '1', FOLDER = folders, JOBS = String(availableParallelism()), WIDE } = process.env;
/** The number of the nearest specs, which a mutant meets first. */
const nearest = 8;
const goal = 0.9;

const specsOf = createSpecGraph();
const sources = FOLDER.split(',')
  .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
  .filter((file) => !/\.(spec|contract|fixture)\.ts$|\/testing\//.test(file));
const all = sources.flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')));
const sample = createSource(Number(SEED)).shuffle(all).slice(0, Number(SAMPLE));
console.log(`${sample.length} of ${all.length} mutants in ${sources.length} files, SEED=${SEED}`);

const mutants = sample.filter((each) => whyEquivalent(each, readFileSync(join(root, each.file), 'utf8')) === undefined);
const counts: Record<SpecOutcome, number> = { killed: 0, 'timed out': 0, survived: 0 };
await requireGreen();
const waiting = [...mutants];
await Promise.all(Array.from({ length: Number(JOBS) }, work));
const score = counts.killed / Math.max(1, mutants.length);
console.log(
  `${counts.killed} killed, ${counts['timed out']} by a timeout only, ${counts.survived} survived, ${sample.length - mutants.length} change nothing: ${(100 * score).toFixed(1)} %`,
);
process.exitCode = score >= goal ? 0 : 1;

async function work(): Promise<void> {
  for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
    const outcome = await tryOne(mutant);
    counts[outcome]++;
    const { file, line, from, to } = mutant;
    if (outcome !== 'killed') console.log(`${outcome}: ${file}:${line}: ${from}  →  ${to}`);
  }
}

/** Runs specs without a mutant. @throws Error if they are red: they would kill each mutant */
async function requireGreen(): Promise<void> {
  const files = [...new Set(mutants.map(({ file }) => file))];
  const check = async (): Promise<void> => {
    for (let file = files.shift(); file !== undefined; file = files.shift())
      for (const specs of specSetsOf(file)) {
        const { outcome, output } = await runSpecs(unchanged(file), specs);
        if (outcome !== 'survived')
          throw new Error(`without a mutant these specs are red: ${specs.join(' ')}\n${output}`);
      }
  };
  await Promise.all(Array.from({ length: Number(JOBS) }, check));
}

/** Returns the specs that a mutant of a file meets, one set after the other. */
function specSetsOf(file: string): string[][] {
  const specs = specsOf(file);
  const sets = [specs.slice(0, nearest), WIDE === undefined ? [] : specs.slice(nearest)];
  return sets.filter((set) => set.length > 0);
}

async function tryOne(mutant: Mutant): Promise<SpecOutcome> {
  for (const specs of specSetsOf(mutant.file)) {
    const { outcome } = await runSpecs(mutant, specs);
    if (outcome !== 'survived') return outcome;
  }
  return 'survived';
}
