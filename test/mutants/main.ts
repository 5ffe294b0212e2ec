/**
 * `make mutants`: plants each known mistake in a copy of the project, and runs the specs of its
 * tier, which must fail. It prints how each mistake was found, and exits with 1 if one was not.
 * BUG=text selects mistakes by name or file; JOBS is how many run at a time. BY=sim runs the
 * simulation in place of the specs, with SEEDS=n seeds of the half that runs the file.
 *
 * The specs that were red are written to found-by.json, and counted in docs/guarantees.md.
 */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { tiedCommand } from '../harness/processes/parent-death.ts';
import { openRun } from '../harness/run.ts';
import { countInGuarantees, readFinders, simulation, writeFinders } from './found-by.ts';
import type { PlantedBug } from './planted-bug.ts';
import { plantedBugs } from './planted-bugs.ts';

const root = join(import.meta.dirname, '..', '..');
/** The time limit of a test. A failure by time does not count: it does not name the mistake. */
const testTimeoutMs = 30_000;
const runTimeoutMs = 180_000;

type Outcome = 'found' | 'found by a timeout only' | 'not found';

interface Result {
  readonly outcome: Outcome;
  /** Paths of the spec files that were red by an assertion, from the root. */
  readonly finders: readonly string[];
}

const { BUG: selection = '', JOBS: jobs = String(availableParallelism()), SEEDS: seeds = '300' } = process.env;
const bySimulation = process.env['BY'] === 'sim';
/** Returns the half of the simulation that runs the file. */
const halfOf = (file: string): string => (/^(ledger|services\/allocator)\//.test(file) ? 'ledger' : 'cluster');
const selected = plantedBugs.filter(({ name, file }) => `${file} ${name}`.includes(selection));
const waiting = [...selected];
const results = new Map<PlantedBug, Result>();
const finders = readFinders();
// The folder of a run is removed also when this process ends by a signal
const run = openRun();
try {
  await Promise.all(Array.from({ length: Number(jobs) }, work));
} finally {
  await run.end();
}
const missed = selected.filter((bug) => results.get(bug)?.outcome !== 'found');
for (const { name, file, specs } of missed)
  console.log(
    `not found: ${file}: ${name}\n  by ${bySimulation ? `${seeds} seeds of the simulation` : specs.join(' ')}`,
  );
console.log(`${selected.length - missed.length} of ${selected.length} planted mistakes were found`);
countInGuarantees(finders);
process.exitCode = missed.length === 0 && selected.length > 0 ? 0 : 1;

async function work(): Promise<void> {
  const copy = copyProject();
  for (let bug = waiting.shift(); bug; bug = waiting.shift()) {
    const result = await tryOne(copy, bug);
    results.set(bug, result);
    record(bug, result);
    console.log(`${result.outcome.padEnd(24)} ${bug.file}: ${bug.name}`);
  }
}

/** Replaces the finds of this method. Those of the other one stay. */
function record({ name }: PlantedBug, { finders: found }: Result): void {
  const others = finders.get(name)?.filter((suite) => (suite === simulation) !== bySimulation) ?? [];
  finders.set(name, [...others, ...found]);
  writeFinders(finders);
}

/** The files of the working tree, also those that are not committed. */
function copyProject(): string {
  const copy = mkdtempSync(join(run.folder, 'copy-'));
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of files.split('\n').filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  for (const folder of ['node_modules', '.cache']) symlinkSync(join(root, folder), join(copy, folder));
  return copy;
}

async function tryOne(copy: string, { file, from, to, specs }: PlantedBug): Promise<Result> {
  const path = join(copy, file);
  const right = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    right.replace(from, () => to),
  );
  try {
    return await (bySimulation ? runSimulation(copy, halfOf(file)) : runSpecs(copy, specs));
  } finally {
    writeFileSync(path, right);
  }
}

/** Runs all specs of the tier: also those behind the first red one count as finders. */
function runSpecs(copy: string, specs: readonly string[]): Promise<Result> {
  const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
  const args = [mocha, '--reporter=json-stream', `--timeout=${testTimeoutMs}`, ...specs];
  const options = { cwd: copy, timeout: runTimeoutMs, maxBuffer: 64 << 20 };
  return new Promise((resolve) => {
    execFile(...tiedCommand(process.execPath, args), options, (error, stdout) => {
      const failures = readFailures(stdout);
      const finders = failures.filter(({ isTimeout }) => !isTimeout).map(({ file }) => relative(copy, file));
      const isSlow = error?.killed === true || failures.length > 0;
      const outcome = finders.length > 0 ? 'found' : isSlow ? 'found by a timeout only' : 'not found';
      resolve({ outcome, finders: [...new Set(finders)] });
    });
  });
}

/** Reads the failures in the lines of mocha's reporter json-stream. A run may end in a line. */
function readFailures(output: string): { readonly file: string; readonly isTimeout: boolean }[] {
  return [...output.matchAll(/^\["fail",(\{.*\})\]$/gm)].map(([, json = '']) => {
    const { file, err } = JSON.parse(json) as { readonly file: string; readonly err: string };
    return { file, isTimeout: /Timeout of \d+ms exceeded/.test(err) };
  });
}

/** Runs the simulation. A run that ends without a report does not count as a find, either. */
function runSimulation(copy: string, half: string): Promise<Result> {
  const program = [join(copy, 'test/simulation/main.ts')];
  const env = { ...process.env, SEEDS: seeds, HALF: half, JOBS: '1', FIRST: '1' };
  return new Promise((resolve) => {
    execFile(
      ...tiedCommand(process.execPath, program),
      { cwd: copy, env, timeout: 20 * runTimeoutMs, maxBuffer: 64 << 20 },
      (_, stdout) => {
        const [, violation] = /^[a-z]+, (seed .*)$/m.exec(stdout) ?? [];
        if (violation !== undefined) console.log(violation.slice(0, 300));
        const isFound = violation !== undefined;
        resolve({ outcome: isFound ? 'found' : 'not found', finders: isFound ? [simulation] : [] });
      },
    );
  });
}
