/** The first and the last step: all servers start, all servers stop. */
import { join } from 'node:path';
import { expect } from 'chai';
import { runningNames } from '../../up/background.ts';
import { formatDuration } from '../../../test/harness/progress.ts';
import { daemonSocket } from '../../up/network-configurations.ts';
import { demoTools } from '../../up/client-access.ts';
import type { Settings } from '../../up/settings.ts';
import { startAll } from '../../up/start.ts';
import { stopAll } from '../../up/stop.ts';
import { demoFolder, type DemoEnvironment } from '../demo-environment.ts';

const certificates = join(demoFolder, 'certs');
const options = { nodes: 1, tls: undefined, kubeconfig: undefined };
const settings: Settings = { ...options, listen: '127.0.0.1', certificates, yes: false };

export async function startServers({ terminal, signal }: DemoEnvironment): Promise<void> {
  terminal.step(
    'All servers start, on loopback: etcd for the ledger, a Kubernetes API with its own etcd, and the programs of',
    'ipledger. Another terminal needs only the two commands below.',
  );
  const begin = performance.now();
  const { rows, daemonSocket: served } = await startAll({ folder: demoFolder, settings, tools: demoTools, signal });
  for (const { name, where } of rows) terminal.print(`${name.padEnd(24)} ${where.split('\n').at(-1)}`);
  terminal.print(`✓ ready after ${formatDuration(performance.now() - begin)}`);
  if (!served) {
    terminal.print(`${daemonSocket} is not available (another program listens on it,`);
    terminal.print("or the demo does not run as root): the CNI configuration has the agent's own socket.");
  }
  terminal.define('. .cache/demo/env');
  terminal.define('cd test/manifests/manage-multiple-interface');
}

export async function stopServers({ terminal, signal }: DemoEnvironment): Promise<void> {
  terminal.step('All servers stop, and all data is removed.');
  const stopped = await stopAll({ folder: demoFolder, purge: true, signal });
  expect(runningNames(demoFolder)).to.deep.equal([]);
  terminal.print(`stopped: ${stopped.join(', ')}`);
}
