/** `make up`: everything on loopback, in the background; NODES, LISTEN, TLS, CERTS, KUBECONFIG and YES are listened to. */
import { join, relative } from 'node:path';
import { withLock } from './lock.ts';
import { cacheFolder, root } from './paths.ts';
import { say } from './say.ts';
import { daemonSocket as kubeOvnSocket } from './up/network-configurations.ts';
import { readSettings } from './up/settings.ts';
import { startAll } from './up/start.ts';
import { tableOf } from './up/table.ts';

const folder = join(cacheFolder, 'up');

try {
  const settings = readSettings(process.env, join(folder, 'kubeconfig'));
  const { signal } = new AbortController();
  const waiting = (): void => say('up: waiting for another `make up` or `make down` …');
  const { rows, daemonSocket } = await withLock(
    `${folder}.lock`,
    () => startAll({ folder, settings, signal }),
    waiting,
  );
  process.stdout.write(tableOf(rows));
  if (!daemonSocket)
    console.log(
      `${kubeOvnSocket} is not ours (somebody else answers there, or we are not root): NETCONFPATH names agent-1.sock`,
    );
  console.log(`\nIn another terminal:  . ${relative(root, join(folder, 'env'))}\nTo end it:            make down`);
} catch (error) {
  say(`up: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1); // others may still be starting: `make down` knows them
}
