/**
 * Runs spec files with mocha, in parallel: `node test/main.ts [unit] [int] [e2e]` (default: all
 * three tiers).
 *
 *   SPEC=glob  only these files, of any tier
 *   JOBS=n     the number of files that run at the same time
 *   WATCH=1    run again when a source changes
 */
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { availableParallelism, constants } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folders = '{proto,lib,ledger,services,cli,build,test,local}';

/** The tiers, the slowest first: otherwise the last files run alone. */
const tiers = ['e2e', 'int', 'unit'] as const;

/** The jobs of a core. A test waits for servers more than it computes. */
const jobsPerCore = 2;

/** Reads an environment variable; undefined when it is unset or empty. */
const readVariable = (name: string): string | undefined => process.env[name] || undefined;

/** The folders with the slowest files, which run first for the same reason. */
const slowFolders = /^test\/(faults|node|scale)\//;
const isSlow = (file: string): boolean => slowFolders.test(file);

function selectFiles(selected: readonly string[]): string[] {
  const pattern = readVariable('SPEC');
  if (pattern !== undefined) return globSync(pattern, { cwd: root }).sort();
  return tiers
    .filter((tier) => selected.length === 0 || selected.includes(tier))
    .flatMap((tier) => {
      const files = globSync(`${folders}/**/*.${tier}.spec.ts`, { cwd: root }).sort();
      return [...files.filter(isSlow), ...files.filter((file) => !isSlow(file))];
    });
}

const selected = process.argv.slice(2);
const unknown = selected.filter((tier) => !tiers.includes(tier as (typeof tiers)[number]));
const files = selectFiles(selected);
if (unknown.length > 0 || files.length === 0) {
  console.error(unknown.length > 0 ? `no tier ${unknown.join(', ')}: use ${tiers.join(', ')}` : 'no spec file matches');
  process.exit(2);
}
const jobs = readVariable('JOBS') ?? String(availableParallelism() * jobsPerCore);
const watch = readVariable('WATCH') === undefined ? [] : ['--watch', '--watch-files', `${folders}/**/*.ts`];
const program = join(root, 'node_modules/mocha/bin/mocha.js');
// mocha with --parallel and one job cannot load a file with a top-level await
const parallel = jobs === '1' ? [] : ['--parallel', '--jobs', jobs];
const args = [program, ...parallel, ...watch, ...files];
const mocha = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
// Ctrl-C also reaches mocha, which stops its workers, and these their servers
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => mocha.kill());
mocha.on('exit', (code, signal) => {
  process.exitCode = signal ? 128 + constants.signals[signal] : (code ?? 1);
});
