/** ADD and DEL of NICs by the plugin itself, without a kubelet: many containers in a short time. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { childEnvironment } from '../harness/processes/launch.ts';
import { daemonSocket } from '../harness/node/containerd.ts';
import type { Node } from '../harness/node/node.ts';
import type { OvnEnvironment } from './ovn-environment.ts';

const plugin = '/opt/cni/bin/kube-ovn';

export interface PluginCall {
  readonly node: Node;
  readonly pod: string;
  readonly containerId: string;
  readonly provider: string;
}

/** Creates Pods that no kubelet starts. */
export async function createUnscheduledPods(
  { kubernetes }: OvnEnvironment,
  names: readonly string[],
  networks: string,
): Promise<void> {
  for (const name of names)
    await kubernetes.create({
      kind: 'Pod',
      metadata: { name, annotations: { 'k8s.v1.cni.cncf.io/networks': networks } },
      spec: { schedulerName: 'none', containers: [{ name: 'box', image: 'none' }] },
    });
}

/** Creates a container: a network namespace on the node. */
export async function createContainer(node: Node): Promise<string> {
  const containerId = randomBytes(16).toString('hex');
  expect((await node.machine.run(['ip', 'netns', 'add', containerId])).code).to.equal(0);
  return containerId;
}

/** Removes the namespace of a container, with all links in it. */
export async function removeContainer(node: Node, containerId: string): Promise<void> {
  await node.machine.run(['ip', 'netns', 'delete', containerId]);
}

/** Calls the plugin once. Resolves to its exit status and output. */
export async function callPlugin(
  command: 'ADD' | 'DEL',
  { node, pod, containerId, provider }: PluginCall,
): Promise<{ readonly code: number; readonly output: string }> {
  const env = {
    CNI_COMMAND: command,
    CNI_CONTAINERID: containerId,
    CNI_NETNS: `/run/netns/${containerId}`,
    CNI_IFNAME: 'net1',
    CNI_PATH: '/opt/cni/bin',
    CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=${pod}`,
  };
  const config = { cniVersion: '0.3.1', name: 'load', type: 'kube-ovn', server_socket: daemonSocket, provider };
  const { code, stdout, stderr } = await node.machine.run([plugin], {
    env: childEnvironment(env),
    input: JSON.stringify(config),
  });
  return { code, output: `${stdout}${stderr}` };
}

/** Repeats a DEL until it succeeds, as a kubelet does. */
export async function deleteUntilDone(call: PluginCall): Promise<void> {
  for (;;) {
    const { code, output } = await callPlugin('DEL', call);
    if (code === 0) return;
    if (!/try again|unavailable|connect|reset|timed out|deadline/i.test(output)) throw new Error(output);
  }
}
