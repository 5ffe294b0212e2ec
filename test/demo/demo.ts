/**
 * `make demo`: four Pods get their addresses, use them, and give them back, on real servers that end with it. Each step
 * says what happens, shows the command that a user would type, and checks what it shows.
 */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { withLock } from '../harness/lock.ts';
import { root } from '../harness/paths.ts';
import { say } from '../harness/say.ts';
import { stopAll } from '../harness/up/stop.ts';
import { folder, openStage, type Stage } from './stage.ts';
import { attachPods, detachPods, openSandboxes, pingEachOther, showInterface } from './steps/attach.ts';
import { showFormerHolder, showHolder, showLog, showNothingLeft, showObjects, showReleases } from './steps/ledger.ts';
import { createPods, deletePods, endPods, nameNetwork, placePods, showAddresses } from './steps/pods.ts';
import { bringUp, takeDown } from './steps/servers.ts';
import { linesOf } from './trim.ts';

async function story(stage: Stage): Promise<void> {
  const { terminal, macvlan } = stage;
  await bringUp(stage);

  await nameNetwork(terminal);
  await createPods(terminal);
  await placePods(terminal);
  const pods = await showAddresses(terminal);
  if (macvlan.able) {
    await openSandboxes(stage, pods);
    await attachPods(terminal, pods);
    await showInterface(terminal);
    await pingEachOther(terminal);
  } else {
    terminal.step('LEFT OUT: the Pods are not attached to their network, as no macvlan interface can be made here.');
    for (const line of linesOf(macvlan.reason)) terminal.say(line);
  }
  await showObjects(terminal, pods);
  await showLog(terminal, pods, macvlan.able);
  const askedAt = await showHolder(terminal, macvlan.able);

  await deletePods(terminal);
  if (macvlan.able) await detachPods(terminal);
  await endPods(terminal);
  await showReleases(terminal, pods);
  await showNothingLeft(terminal);
  await showFormerHolder(terminal, macvlan.able, askedAt);

  await takeDown(stage);
}

/** Tells the story, and takes down what it has put up also when it breaks off; then the logs stay. */
async function play(stage: Stage): Promise<void> {
  await stopAll({ folder, purge: true, signal: stage.signal }); // what one that broke off has left
  try {
    await story(stage);
  } catch (error) {
    await stopAll({ folder, purge: false, signal: new AbortController().signal }).catch((another: unknown) =>
      say(`demo: ${String(another)}`),
    );
    throw error;
  }
}

const interrupted = new AbortController();

/** From here on Ctrl-C ends what was started, and only the second one ends us. */
function listenToSignals(): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => interrupted.abort(new Error(`ended by ${name}`)));
}

try {
  let stage: Stage | undefined;
  const perform = async (): Promise<void> => {
    listenToSignals();
    stage = await openStage(interrupted.signal);
    await play(stage);
  };
  try {
    await withLock(`${folder}.lock`, perform, () => say('demo: waiting for another one to end …'));
  } finally {
    await stage?.run.end();
  }
  console.log('\ndemo: ok');
} catch (error) {
  const said: unknown = interrupted.signal.reason ?? error;
  if (existsSync(folder)) say(`\ndemo: the servers' logs are in ${relative(root, folder)}`);
  say(`demo: ${said instanceof Error ? said.message : String(said)}`);
  process.exitCode = 1;
}
