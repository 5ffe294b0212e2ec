/** Finds the unit specs that import a source file, by the number of imports between. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');
const importPath = /from '(\.[^']+\.ts)'/g;

const importsOf = (file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(importPath)].map(([, path = '']) =>
    relative(root, join(root, dirname(file), path)),
  );

/** Reads the imports of all sources once. */
export function createSpecGraph(): (file: string) => string[] {
  const files = globSync('{proto,lib,ledger,services}/**/*.ts', { cwd: root });
  const importers = new Map<string, string[]>();
  for (const file of files)
    for (const imported of importsOf(file)) importers.set(imported, [...(importers.get(imported) ?? []), file]);
  return (file) => {
    const found = new Set([file]);
    // A set is visited in the order of insertion, including items that the loop inserts
    for (const each of found) for (const importer of importers.get(each) ?? []) found.add(importer);
    return [...found].filter((each) => each.endsWith('.unit.spec.ts'));
  };
}
