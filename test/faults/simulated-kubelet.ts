/**
 * The CNI calls of a kubelet for a Pod, with the real plugin. It repeats ADD, each in a new
 * sandbox, until one succeeds. After a failed ADD, and at the end, it repeats DEL until that
 * succeeds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { resultAddresses, callKubeOvnPlugin as callPlugin, type PluginCall } from '../e2e/support/plugin-call.ts';
import { testSize } from './test-size.ts';
import type { FaultEnvironment } from './fault-environment.ts';

const retryMs = 200;

/** A Pod's sandbox on one network. */
export interface Sandbox {
  readonly pod: string;
  readonly uid: string;
  readonly network: string;
  readonly containerId: string;
  /** The addresses in the plugin's result, with prefix lengths. */
  readonly addresses: readonly string[];
}

let sandboxes = 0;

/** Calls the plugin as on the node: it stores a pending DEL in the agent's folder. */
export const runPlugin = (environment: FaultEnvironment, call: PluginCall) => callPlugin(environment, call);

/** ADD for `net1` of a Pod. @throws Error with the plugin's output when no ADD succeeds in time */
export async function setUpSandbox(
  environment: FaultEnvironment,
  pod: { readonly name: string; readonly uid: string },
  network: string,
): Promise<Sandbox> {
  const deadline = Date.now() + testSize.patienceMs;
  for (;;) {
    const containerId = `sandbox-${++sandboxes}-of-${pod.name}`;
    const sandbox = { pod: pod.name, uid: pod.uid, network, containerId };
    const answer = await runPlugin(environment, sandbox);
    if (answer.code === 0) return { ...sandbox, addresses: resultAddresses(answer) as readonly string[] };
    await tearDownSandbox(environment, sandbox);
    if (Date.now() > deadline) throw new Error(`no ADD for ${pod.name} succeeds: ${answer.stdout}${answer.stderr}`);
    await sleep(retryMs);
  }
}

/** Repeats DEL until it succeeds. @throws as `setUpSandbox` */
export async function tearDownSandbox(
  environment: FaultEnvironment,
  sandbox: Omit<Sandbox, 'addresses'>,
): Promise<void> {
  const deadline = Date.now() + testSize.patienceMs;
  for (;;) {
    const { code, stdout, stderr } = await runPlugin(environment, { ...sandbox, command: 'DEL' });
    if (code === 0) return;
    if (Date.now() > deadline) throw new Error(`no DEL for ${sandbox.containerId} succeeds: ${stdout}${stderr}`);
    await sleep(retryMs);
  }
}
