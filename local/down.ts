/**
 * `make down`: stops only the programs that `make up` started. PURGE=1 also removes its data and
 * the CustomResourceDefinitions that it installed.
 */
import { join } from 'node:path';
import { errorMessage } from '../lib/errors.ts';
import { withFileLock } from '../test/harness/processes/file-lock.ts';
import { cacheFolder } from '../test/harness/paths.ts';
import { printProgress } from '../test/harness/progress.ts';
import { stopAll } from './up/stop.ts';

const folder = join(cacheFolder, 'up');
const purge = process.env['PURGE'] === '1';

try {
  const { signal } = new AbortController();
  const waiting = (): void => printProgress('down: waiting for another `make up` or `make down` …');
  const stopped = await withFileLock(`${folder}.lock`, () => stopAll({ folder, purge, signal }), waiting);
  console.log(stopped.length > 0 ? `stopped: ${stopped.join(', ')}` : 'nothing was running');
  if (purge) console.log('the data is removed');
} catch (error) {
  printProgress(`down: ${errorMessage(error)}`);
  process.exit(1);
}
