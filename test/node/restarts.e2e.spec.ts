/** Kubelet, containerd and node-agent restart without effect on running Pods. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../e2e/support/eventually.ts';
import { daemonSocket } from '../harness/node/containerd.ts';
import type { Node } from '../harness/node/node.ts';
import { listSandboxes } from './sandboxes.ts';
import type { NodeEnvironment } from './node-environment.ts';
import { describeOnNodes } from './node-suite.ts';
import { createWorkload, waitForPods, scaleWorkload } from './workloads.ts';

const pendingDelsFolder = '/var/lib/cni/ipledger';

describeOnNodes('real nodes: restarts', (it) => {
  it('a killed kubelet keeps the sandboxes and addresses of its Pods', async (environment) => {
    await createWorkload(environment, 'Deployment', 'web', 4);
    const before = await readPodsAndSandboxes(environment);
    await environment.a.kubelet.restart();
    await createWorkload(environment, 'Deployment', 'after-kubelet', 2);
    expect(await readPodsAndSandboxes(environment)).to.deep.equal(before);
  });

  it('a killed containerd keeps its sandboxes and their addresses', async (environment) => {
    const before = await readPodsAndSandboxes(environment);
    await environment.a.containerd.restart();
    await createWorkload(environment, 'Deployment', 'after-containerd', 2);
    expect(await readPodsAndSandboxes(environment)).to.deep.equal(before);
  });

  it('after an agent restart during waiting ADDs all Pods get their addresses', async (environment) => {
    const { watcher } = environment.stack;
    await watcher.kill();
    await scaleWorkload(environment, 'Deployment', 'web', 8);
    for (const node of [environment.a, environment.b]) {
      await eventually(() => expect(countOpenCalls(node)).to.equal(2));
      await node.agent.stop();
      await node.agent.start();
    }
    await watcher.start();
    expect(new Set((await waitForPods(environment, 'web', 8)).map(({ address }) => address)).size).to.equal(8);
  });

  it('an agent ends the bindings of Pods that were deleted while it was down', async (environment) => {
    await environment.a.agent.stop();
    await scaleWorkload(environment, 'Deployment', 'web', 0);
    await waitForPods(environment, 'web', 0);
    expect(pendingDelsOf(environment.a)).to.not.deep.equal([]);
    await environment.a.agent.start();
    await eventually(() => expect(pendingDelsOf(environment.a)).to.deep.equal([]), 180_000);
  });
});

/** Reads the Pods with their addresses and sandboxes, which a restart must not change. */
async function readPodsAndSandboxes(environment: NodeEnvironment): Promise<object> {
  const pods = await waitForPods(environment, 'web', 4);
  const uids = new Set(pods.map(({ uid }) => uid));
  const sandboxes = [environment.a, environment.b].flatMap(listSandboxes).filter(({ uid }) => uids.has(uid));
  return { pods, sandboxes: sandboxes.map(({ containerId }) => containerId).sort() };
}

/**
 * Counts the open calls at the agent of a node: the kernel lists the accepted sockets with the
 * listening socket.
 */
function countOpenCalls({ machine }: Node): number {
  const sockets = readFileSync(machine.path('/proc/1/net/unix'), 'utf8');
  return sockets.split(` ${dirname(daemonSocket)}/`).length - 2;
}

function pendingDelsOf({ machine }: Node): string[] {
  const folder = machine.path(pendingDelsFolder);
  return existsSync(folder) ? readdirSync(folder) : [];
}
