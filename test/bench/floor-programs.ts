/**
 * The programs that are floors. `make bench` starts them bundled, as it does those of ipledger:
 * from its sources a program takes Node twice as long to start, which would be in the floor only.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../harness/paths.ts';
import { bundlesVariable } from '../harness/services.ts';

/** The source of each program, by the name of its bundle. */
export const floorSources = {
  'bare-server': 'test/bench/rows/allocate/bare-server.ts',
  'list-and-parse': 'test/bench/rows/pods/list-and-parse.ts',
  'read-snapshot': 'test/bench/rows/start/read-snapshot.ts',
} as const;

/** Returns the file that starts a floor: its bundle, if the programs of ipledger start bundled. */
export function floorProgram(name: keyof typeof floorSources): string {
  const bundles = process.env[bundlesVariable] ?? '';
  const file = bundles === '' ? join(root, floorSources[name]) : join(bundles, `${name}.mjs`);
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  return file;
}
