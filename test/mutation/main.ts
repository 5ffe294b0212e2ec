/**
 * `make mutation`: mutates a sample of the sources, one change at a time, and runs the unit specs
 * that import the changed file. It prints the mutants that no spec kills, and exits with 1 below 90
 * %.
 *
 *   SAMPLE=100    mutants
 *   SEED=n        the sample
 *   FOLDER=path   default: the rules, the log and the controllers
 *   JOBS=n        mutants at the same time
 *   WIDE=1        a survivor also meets all other unit specs that import its file
 */
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createSource } from '../faults/seeded-random.ts';
import { whyEquivalent } from './equivalent-mutants.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { createSpecGraph, root } from './spec-graph.ts';

const folders = 'ledger/domain,ledger/log,services/pod-watcher/controllers';
const { SAMPLE = '100', SEED = '1', FOLDER = folders, JOBS = String(availableParallelism()), WIDE } = process.env;
/** The nearest specs that a mutant meets first. */
const nearest = 8;
/** A mutant may make a loop endless. */
const runTimeoutMs = 300_000;
const goal = 0.9;

type Outcome = 'killed' | 'timed out' | 'survived';

const specsOf = createSpecGraph();
const sources = FOLDER.split(',')
  .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
  .filter((file) => !/\.(spec|contract|fixture)\.ts$|\/testing\//.test(file));
const all = sources.flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')));
const sample = createSource(Number(SEED)).shuffle(all).slice(0, Number(SAMPLE));
console.log(`${sample.length} of ${all.length} mutants in ${sources.length} files, SEED=${SEED}`);

const counts: Record<Outcome | 'equivalent', number> = { killed: 0, 'timed out': 0, survived: 0, equivalent: 0 };
const waiting = [...sample];
await Promise.all(Array.from({ length: Number(JOBS) }, work));
const { killed, survived, equivalent } = counts;
const score = (killed + counts['timed out']) / Math.max(1, sample.length - equivalent);
console.log(
  `${killed} killed, ${counts['timed out']} timed out, ${survived} survived, ${equivalent} change nothing: ${(100 * score).toFixed(1)} %`,
);
process.exitCode = score >= goal ? 0 : 1;

async function work(): Promise<void> {
  for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
    if (whyEquivalent(mutant, readFileSync(join(root, mutant.file), 'utf8')) !== undefined) {
      counts.equivalent++;
      continue;
    }
    const outcome = await tryOne(mutant);
    counts[outcome]++;
    const { file, line, from, to } = mutant;
    if (outcome !== 'killed') console.log(`${outcome}: ${file}:${line}: ${from}  →  ${to}`);
  }
}

async function tryOne(mutant: Mutant): Promise<Outcome> {
  const specs = specsOf(mutant.file);
  if (specs.length === 0) return 'survived';
  const outcome = await runSpecs(mutant, specs.slice(0, nearest));
  const others = specs.slice(nearest);
  return outcome === 'survived' && WIDE !== undefined && others.length > 0 ? runSpecs(mutant, others) : outcome;
}

function runSpecs(mutant: Mutant, specs: readonly string[]): Promise<Outcome> {
  const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
  const args = ['--import', join(import.meta.dirname, 'plant.ts'), mocha, '--bail', ...specs];
  const env = { ...process.env, MUTANT: JSON.stringify(mutant) };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root, env, timeout: runTimeoutMs, maxBuffer: 64 << 20 }, (error) => {
      if (!error) resolve('survived');
      else resolve(error.killed === true ? 'timed out' : 'killed');
    });
  });
}
