/**
 * `make up`: starts the stack in the background on loopback. Variables: NODES, LISTEN, TLS, CERTS,
 * KUBECONFIG, YES.
 */
import { join, relative } from 'node:path';
import { errorMessage } from '../lib/errors.ts';
import { withFileLock } from '../test/harness/processes/file-lock.ts';
import { cacheFolder, root } from '../test/harness/paths.ts';
import { printProgress } from '../test/harness/progress.ts';
import { daemonSocket as kubeOvnSocket } from './up/network-configurations.ts';
import { terminalTools } from './up/client-access.ts';
import { readSettings } from './up/settings.ts';
import { startAll } from './up/start.ts';
import { formatServerTable } from './up/server-table.ts';

const folder = join(cacheFolder, 'up');

try {
  const settings = readSettings(process.env, join(folder, 'kubeconfig'));
  const { signal } = new AbortController();
  const waiting = (): void => printProgress('up: waiting for another `make up` or `make down` …');
  const { rows, daemonSocket, nodes } = await withFileLock(
    `${folder}.lock`,
    () => startAll({ folder, settings, tools: terminalTools, signal }),
    waiting,
  );
  process.stdout.write(formatServerTable(rows));
  if (nodes.length === 0)
    console.log(
      'no agent was started: this machine is not a node of that cluster. docs/install.md describes how to install agents on its nodes',
    );
  else if (!daemonSocket)
    console.log(
      `agent 1 does not serve ${kubeOvnSocket}: another program listens there, or you are not root. NETCONFPATH names agent-1.sock`,
    );
  console.log(`\nIn another terminal:  . ${relative(root, join(folder, 'env'))}\nTo stop it:           make down`);
} catch (error) {
  printProgress(`up: ${errorMessage(error)}`);
  process.exit(1); // other servers may still be starting: `make down` stops them
}
