/**
 * Runs specs on a mutant, and interprets the result. Their process ends with this one: a mutant may
 * make a loop endless.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { tiedCommand } from '../harness/processes/parent-death.ts';
import type { Mutant } from './mutants.ts';
import { root } from './spec-graph.ts';

/** The outcome. A failure by time alone is no find, because a slow machine does the same. */
export type SpecOutcome = 'killed' | 'timed out' | 'survived';

/** The time limit of a run: a mutant may make a loop endless. */
const runTimeoutMs = 300_000;

const compiled = join(root, '.cache', 'mutation');

/** The mutant that changes nothing: the file is planted as it is. */
export const unchanged = (file: string): Mutant => ({ file, line: 1, start: 0, end: 0, from: '', to: '' });

/** @returns the outcome, and the output of mocha */
export function runSpecs(
  mutant: Mutant,
  specs: readonly string[],
  timeoutMs = runTimeoutMs,
): Promise<{ readonly outcome: SpecOutcome; readonly output: string }> {
  const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
  const args = ['--import', join(import.meta.dirname, 'plant.ts'), mocha, '--bail', ...specs];
  const options = { cwd: root, timeout: timeoutMs, maxBuffer: 64 << 20 };
  // Node keeps compiled modules by their source, so a mutant does not meet those of another one
  const env = { NODE_COMPILE_CACHE: compiled, ...process.env, MUTANT: JSON.stringify(mutant) };
  return new Promise((resolve) => {
    execFile(...tiedCommand(process.execPath, args), { ...options, env }, (error, stdout, stderr) => {
      const output = stdout + stderr;
      if (!error) return resolve({ outcome: 'survived', output });
      const isSlow = error.killed === true || /Timeout of \d+ms exceeded/.test(stdout);
      resolve({ outcome: isSlow ? 'timed out' : 'killed', output });
    });
  });
}
