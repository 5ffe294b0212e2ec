/**
 * What a kubelet does about a Pod's attachment, with the real plugin: an ADD until one succeeds, each in a sandbox of its own;
 * after one that failed, and at the end, a DEL until that succeeds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { addressesIn, plugin as callPlugin, type PluginCall } from '../e2e/plugin.ts';
import { scale } from './scale.ts';
import type { Stage } from './stage.ts';

const againMs = 200;

/** A Pod's sandbox on one network. */
export interface Sandbox {
  readonly pod: string;
  readonly uid: string;
  readonly network: string;
  readonly containerId: string;
  /** What the plugin answered, with prefix lengths. */
  readonly addresses: readonly string[];
}

let sandboxes = 0;

/** The plugin as the node has it: what it leaves undone it leaves where the agent looks. */
export const plugin = (stage: Stage, call: PluginCall) => callPlugin(stage, call);

/** ADD for `net1` of a Pod. @throws Error with what the plugin said, when none succeeds for long. */
export async function setUp(
  stage: Stage,
  pod: { readonly name: string; readonly uid: string },
  network: string,
): Promise<Sandbox> {
  const deadline = Date.now() + scale.patienceMs;
  for (;;) {
    const containerId = `sandbox-${++sandboxes}-of-${pod.name}`;
    const sandbox = { pod: pod.name, uid: pod.uid, network, containerId };
    const answer = await plugin(stage, sandbox);
    if (answer.code === 0) return { ...sandbox, addresses: addressesIn(answer) as readonly string[] };
    await tearDown(stage, sandbox);
    if (Date.now() > deadline) throw new Error(`no ADD for ${pod.name} succeeds: ${answer.stdout}${answer.stderr}`);
    await sleep(againMs);
  }
}

/** DEL, until it succeeds. @throws Error as `setUp`. */
export async function tearDown(stage: Stage, sandbox: Omit<Sandbox, 'addresses'>): Promise<void> {
  const deadline = Date.now() + scale.patienceMs;
  for (;;) {
    const { code, stdout, stderr } = await plugin(stage, { ...sandbox, command: 'DEL' });
    if (code === 0) return;
    if (Date.now() > deadline) throw new Error(`no DEL for ${sandbox.containerId} succeeds: ${stdout}${stderr}`);
    await sleep(againMs);
  }
}
