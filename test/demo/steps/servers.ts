/** The first step and the last: everything up, everything down. */
import { join } from 'node:path';
import { expect } from 'chai';
import { runningNames } from '../../harness/background.ts';
import { inWords } from '../../harness/say.ts';
import { daemonSocket } from '../../harness/up/network-configurations.ts';
import type { Settings } from '../../harness/up/settings.ts';
import { startAll } from '../../harness/up/start.ts';
import { stopAll } from '../../harness/up/stop.ts';
import { folder, type Stage } from '../stage.ts';

const certificates = join(folder, 'certs');
const asked = { nodes: 1, tls: undefined, kubeconfig: undefined };
const settings: Settings = { ...asked, listen: '127.0.0.1', certificates, yes: false };

export async function bringUp({ terminal, signal }: Stage): Promise<void> {
  terminal.step(
    'Everything starts, on loopback: etcd for the ledger, a Kubernetes API with an etcd of its own, and the parts of',
    'ipledger. The two commands below are all that another terminal needs, too.',
  );
  const begin = performance.now();
  const { rows, daemonSocket: served } = await startAll({ folder, settings, signal });
  for (const { name, where } of rows) terminal.say(`${name.padEnd(24)} ${where.split('\n').at(-1)}`);
  terminal.say(`✓ ready after ${inWords(performance.now() - begin)}`);
  if (!served) {
    terminal.say(`${daemonSocket} is not ours (somebody else answers there,`);
    terminal.say("or we are not root): the CNI configuration names our agent's own socket instead.");
  }
  terminal.define('. .cache/demo/env');
  terminal.define('cd test/manifests/manage-multiple-interface');
}

export async function takeDown({ terminal, signal }: Stage): Promise<void> {
  terminal.step('Everything ends, and nothing of it stays behind.');
  const stopped = await stopAll({ folder, purge: true, signal });
  expect(runningNames(folder)).to.deep.equal([]);
  terminal.say(`stopped: ${stopped.join(', ')}`);
}
