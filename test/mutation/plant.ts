/**
 * A module to preload, by `node --import`: plants the mutant of the variable MUTANT when its file
 * is loaded. No file changes, so that several mutants run at the same time.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Mutant } from './mutants.ts';

const { file, start, end, to } = JSON.parse(process.env['MUTANT'] ?? '') as Mutant;
const path = join(import.meta.dirname, '..', '..', file);
const url = pathToFileURL(path).href;

registerHooks({
  load(loaded, context, nextLoad) {
    if (loaded !== url) return nextLoad(loaded, context);
    const source = readFileSync(path, 'utf8');
    return { format: 'module-typescript', source: source.slice(0, start) + to + source.slice(end), shortCircuit: true };
  },
});
