/**
 * A module to preload, by `node --import`: plants the mutant of the variable MUTANT when its file
 * is loaded. No file changes, so that several mutants run at the same time.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import type { Mutant } from './mutants.ts';

const { file, start, end, to } = JSON.parse(process.env['MUTANT'] ?? '') as Mutant;
const path = join(import.meta.dirname, '..', '..', file);
const url = pathToFileURL(path).href;

// A mutant needs no smallest counterexample: the search for it takes minutes, and the run times out
fc.configureGlobal({ endOnFailure: true });

registerHooks({
  load(loaded, context, nextLoad) {
    if (loaded !== url) return nextLoad(loaded, context);
    const source = readFileSync(path, 'utf8');
    return { format: 'module-typescript', source: source.slice(0, start) + to + source.slice(end), shortCircuit: true };
  },
});
