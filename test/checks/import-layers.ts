/**
 * Checks that the folders and files of a folder are layers: two of them never import each other,
 * not even through others. Lint finds a circle of files (`import/no-cycle`), but not of folders.
 * Part of `make check`.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const rooms = ['cli', 'ledger', 'lib', 'services'];

interface Import {
  readonly from: string;
  readonly to: string;
}

process.chdir(join(import.meta.dirname, '../..'));
const failures = rooms.flatMap((room) => circlesIn(room, importsOf(room)));
for (const failure of failures) console.error(failure);
if (failures.length > 0) process.exitCode = 1;

/** The imports between files of a room, without those of tests. */
function importsOf(room: string): Import[] {
  return globSync(`${room}/**/*.ts`)
    .filter((file) => !/\.(spec|contract|fixture)\.ts$|\/testing\//.test(file))
    .flatMap((from) =>
      [...readFileSync(from, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(([, path = '']) => ({
        from,
        to: join(dirname(from), path),
      })),
    );
}

/** Finds the imports of a folder that are part of a circle of its entries. */
function circlesIn(folder: string, imports: readonly Import[]): string[] {
  const entryOf = (path: string): string => path.slice(folder.length + 1).split('/', 1)[0] ?? '';
  const inside = imports.filter(({ from, to }) => [from, to].every((path) => path.startsWith(`${folder}/`)));
  const between = inside.filter(({ from, to }) => entryOf(from) !== entryOf(to));
  const layers = Map.groupBy(between, ({ from }) => entryOf(from));
  const reaches = (start: string, end: string): boolean => {
    const found = new Set([start]);
    for (const entry of found) for (const { to } of layers.get(entry) ?? []) found.add(entryOf(to));
    return found.has(end);
  };
  return [
    ...between
      .filter(({ from, to }) => reaches(entryOf(to), entryOf(from)))
      .map(
        ({ from, to }) =>
          `${from} imports ${to}, and ${folder}/${entryOf(to)} needs ${folder}/${entryOf(from)}: move what both use below them`,
      ),
    ...[...new Set(inside.map(({ from }) => entryOf(from)))]
      .filter((entry) => !entry.endsWith('.ts'))
      .flatMap((entry) => circlesIn(`${folder}/${entry}`, inside)),
  ];
}
