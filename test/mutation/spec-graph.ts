/** Finds the specs that import a source file, the nearest first. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');
const importPath = /from '(\.[^']+\.ts)'/g;

const importsOf = (file: string): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(importPath)].map(([, path = '']) =>
    relative(root, join(root, dirname(file), path)),
  );

/**
 * Returns how near a spec is to a file: the most for the spec of its name, else the number of their
 * common folders. By imports alone, a spec that uses a fixture is farther than those of a program
 * that starts everything.
 */
function nearness(file: string, spec: string): number {
  const [folders, others] = [dirname(file).split(sep), dirname(spec).split(sep)];
  if (spec === file.replace(/\.ts$/, '.unit.spec.ts')) return folders.length + 1;
  const apart = folders.findIndex((folder, index) => folder !== others[index]);
  return apart === -1 ? folders.length : apart;
}

export interface SpecsOfFile {
  /** The unit specs, the nearest first. Equally near ones are in the order of their imports. */
  readonly unit: readonly string[];
  /** The specs on a real server in the folder of the file. */
  readonly int: readonly string[];
}

/** Reads the imports of all sources once. */
export function createSpecGraph(): (file: string) => SpecsOfFile {
  const files = globSync('{proto,lib,ledger,services}/**/*.ts', { cwd: root });
  const importers = new Map<string, string[]>();
  for (const file of files)
    for (const imported of importsOf(file)) importers.set(imported, [...(importers.get(imported) ?? []), file]);
  return (file) => {
    const found = new Set([file]);
    // A set is visited in the order of insertion, including items that the loop inserts
    for (const each of found) for (const importer of importers.get(each) ?? []) found.add(importer);
    const specs = [...found].toSorted((one, other) => nearness(file, other) - nearness(file, one));
    return {
      unit: specs.filter((each) => each.endsWith('.unit.spec.ts')),
      int: specs.filter((each) => each.endsWith('.int.spec.ts') && dirname(each) === dirname(file)),
    };
  };
}
