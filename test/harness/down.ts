/** `make down`: stops what `make up` started and nothing else; PURGE=1 also removes its data and what it installed. */
import { join } from 'node:path';
import { withLock } from './lock.ts';
import { cacheFolder } from './paths.ts';
import { say } from './say.ts';
import { stopAll } from './up/stop.ts';

const folder = join(cacheFolder, 'up');
const purge = process.env['PURGE'] === '1';

try {
  const { signal } = new AbortController();
  const waiting = (): void => say('down: waiting for another `make up` or `make down` …');
  const stopped = await withLock(`${folder}.lock`, () => stopAll({ folder, purge, signal }), waiting);
  console.log(stopped.length > 0 ? `stopped: ${stopped.join(', ')}` : 'nothing was running');
  if (purge) console.log('its data is removed');
} catch (error) {
  say(`down: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
