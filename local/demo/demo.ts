/**
 * `make demo`: four Pods get their addresses, use them, and release them, on real servers that stop
 * with the demo. Each step prints what happens, shows the command, and checks its output.
 */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { errorMessage } from '../../lib/errors.ts';
import { withFileLock } from '../../test/harness/processes/file-lock.ts';
import { root } from '../../test/harness/paths.ts';
import { printProgress } from '../../test/harness/progress.ts';
import { stopAll } from '../up/stop.ts';
import { demoFolder, openDemoEnvironment, type DemoEnvironment } from './demo-environment.ts';
import { attachPods, detachPods, openSandboxes, pingEachOther, showInterface } from './steps/attach.ts';
import {
  showFormerHolder,
  showHolder,
  showLog,
  showObjectsDeleted,
  showObjects,
  showReleases,
} from './steps/ledger.ts';
import { createPods, deletePods, endPods, nameNetwork, schedulePods, showAddresses } from './steps/pods.ts';
import { startServers, stopServers } from './steps/servers.ts';
import { splitLines } from './output-filter.ts';

async function runSteps(environment: DemoEnvironment): Promise<void> {
  const { terminal, macvlan } = environment;
  await startServers(environment);

  await nameNetwork(terminal);
  await createPods(terminal);
  await schedulePods(terminal);
  const pods = await showAddresses(terminal);
  if (macvlan.isAvailable) {
    await openSandboxes(environment, pods);
    await attachPods(terminal, pods);
    await showInterface(terminal);
    await pingEachOther(terminal);
  } else {
    terminal.step(
      'SKIPPED: the Pods are not attached to their network, because this machine cannot create a macvlan interface.',
    );
    for (const line of splitLines(macvlan.reason)) terminal.print(line);
  }
  await showObjects(terminal, pods);
  await showLog(terminal, pods, macvlan.isAvailable);
  const heldAt = await showHolder(terminal, macvlan.isAvailable);

  await deletePods(terminal);
  if (macvlan.isAvailable) await detachPods(terminal);
  await endPods(terminal);
  await showReleases(terminal, pods);
  await showObjectsDeleted(terminal);
  await showFormerHolder(terminal, macvlan.isAvailable, heldAt);

  await stopServers(environment);
}

/** Runs all steps. After a failure it stops the servers, and keeps their logs. */
async function runDemo(environment: DemoEnvironment): Promise<void> {
  await stopAll({ folder: demoFolder, purge: true, signal: environment.signal }); // servers of an interrupted demo
  try {
    await runSteps(environment);
  } catch (error) {
    await stopAll({ folder: demoFolder, purge: false, signal: new AbortController().signal }).catch(
      (stopError: unknown) => printProgress(`demo: ${String(stopError)}`),
    );
    throw error;
  }
}

const interrupted = new AbortController();

/** Stops the servers at Ctrl-C. A second Ctrl-C ends the demo immediately. */
function handleSignals(): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => interrupted.abort(new Error(`interrupted by ${name}`)));
}

try {
  let environment: DemoEnvironment | undefined;
  const work = async (): Promise<void> => {
    handleSignals();
    environment = await openDemoEnvironment(interrupted.signal);
    await runDemo(environment);
  };
  try {
    await withFileLock(`${demoFolder}.lock`, work, () => printProgress('demo: waiting until another demo ends …'));
  } finally {
    await environment?.run.end();
  }
  console.log('\ndemo: ok');
} catch (error) {
  const reason: unknown = interrupted.signal.reason ?? error;
  if (existsSync(demoFolder)) printProgress(`\ndemo: the servers' logs are in ${relative(root, demoFolder)}`);
  printProgress(`demo: ${errorMessage(reason)}`);
  process.exitCode = 1;
}
