/**
 * `make mutants`: plants each known mistake in a copy of the project, and runs the specs of its
 * tier, which must fail. It prints how each mistake was found, and exits with 1 if one was not.
 * BUG=text selects mistakes by name or file; JOBS is how many run at a time. BY=sim runs the
 * simulation in place of the specs, with SEEDS=n seeds of the half that runs the file.
 */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { tiedCommand } from '../harness/processes/parent-death.ts';
import { openRun } from '../harness/run.ts';
import type { PlantedBug } from './planted-bug.ts';
import { plantedBugs } from './planted-bugs.ts';

const root = join(import.meta.dirname, '..', '..');
/** The time limit of a test. A failure by time does not count: it does not name the mistake. */
const testTimeoutMs = 60_000;
const runTimeoutMs = 180_000;

type Outcome = 'found' | 'found by a timeout only' | 'not found';

const { BUG: selection = '', JOBS: jobs = String(availableParallelism()), SEEDS: seeds = '300' } = process.env;
const bySimulation = process.env['BY'] === 'sim';
/** Returns the half of the simulation that runs the file. */
const halfOf = (file: string): string => (/^(ledger|services\/allocator)\//.test(file) ? 'ledger' : 'cluster');
const selected = plantedBugs.filter(({ name, file }) => `${file} ${name}`.includes(selection));
const waiting = [...selected];
const outcomes = new Map<PlantedBug, Outcome>();
// The folder of a run is removed also when this process ends by a signal
const run = openRun();
try {
  await Promise.all(Array.from({ length: Number(jobs) }, work));
} finally {
  await run.end();
}
const missed = selected.filter((bug) => outcomes.get(bug) !== 'found');
for (const { name, file, specs } of missed)
  console.log(
    `not found: ${file}: ${name}\n  by ${bySimulation ? `${seeds} seeds of the simulation` : specs.join(' ')}`,
  );
console.log(`${selected.length - missed.length} of ${selected.length} planted mistakes were found`);
process.exitCode = missed.length === 0 && selected.length > 0 ? 0 : 1;

async function work(): Promise<void> {
  const copy = copyProject();
  for (let bug = waiting.shift(); bug; bug = waiting.shift()) {
    const outcome = await tryOne(copy, bug);
    outcomes.set(bug, outcome);
    console.log(`${outcome.padEnd(24)} ${bug.file}: ${bug.name}`);
  }
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

async function tryOne(copy: string, { file, from, to, specs }: PlantedBug): Promise<Outcome> {
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

function runSpecs(copy: string, specs: readonly string[]): Promise<Outcome> {
  const mocha = [join(root, 'node_modules/mocha/bin/mocha.js'), '--bail', `--timeout=${testTimeoutMs}`, ...specs];
  const options = { cwd: copy, timeout: runTimeoutMs, maxBuffer: 64 << 20 };
  return new Promise((resolve) => {
    execFile(...tiedCommand(process.execPath, mocha), options, (error, stdout) => {
      if (!error) return resolve('not found');
      const isSlow = error.killed === true || /Timeout of \d+ms exceeded/.test(stdout);
      resolve(isSlow ? 'found by a timeout only' : 'found');
    });
  });
}

/** Runs the simulation. A run that ends without a report does not count as a find, either. */
function runSimulation(copy: string, half: string): Promise<Outcome> {
  const program = [join(copy, 'test/simulation/main.ts')];
  const env = { ...process.env, SEEDS: seeds, HALF: half, JOBS: '1', FIRST: '1' };
  return new Promise((resolve) => {
    execFile(
      ...tiedCommand(process.execPath, program),
      { cwd: copy, env, timeout: 20 * runTimeoutMs, maxBuffer: 64 << 20 },
      (_, stdout) => {
        const [, violation] = /^[a-z]+, (seed .*)$/m.exec(stdout) ?? [];
        if (violation !== undefined) console.log(violation.slice(0, 300));
        resolve(violation === undefined ? 'not found' : 'found');
      },
    );
  });
}
