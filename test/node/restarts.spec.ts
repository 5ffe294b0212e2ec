import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../e2e/eventually.ts';
import { daemonSocket } from '../harness/node/containerd.ts';
import type { Node } from '../harness/node/node.ts';
import { sandboxesOn } from './sandboxes.ts';
import type { NodeScene } from './scene.ts';
import { describeOnNodes } from './suite.ts';
import { create, members, scale } from './workloads.ts';

/** Where the plugin leaves a DEL that found no agent. */
const journal = '/var/lib/cni/ipledger';

describeOnNodes('real nodes: restarts', (it) => {
  it('a kubelet that was killed finds its Pods again, their sandboxes and addresses untouched', async (scene) => {
    await create(scene, 'Deployment', 'web', 4);
    const before = await present(scene);
    await scene.a.kubelet.restart();
    await create(scene, 'Deployment', 'after-kubelet', 2);
    expect(await present(scene)).to.deep.equal(before);
  });

  it('a containerd that was killed finds its sandboxes again, and their addresses untouched', async (scene) => {
    const before = await present(scene);
    await scene.a.containerd.restart();
    await create(scene, 'Deployment', 'after-containerd', 2);
    expect(await present(scene)).to.deep.equal(before);
  });

  it('agents upgraded while ADDs wait: these are told to try again, and all Pods get their addresses', async (scene) => {
    const { watcher } = scene.stack;
    await watcher.kill();
    await scale(scene, 'Deployment', 'web', 8);
    for (const node of [scene.a, scene.b]) {
      await eventually(() => expect(callsAt(node)).to.equal(2));
      await node.agent.stop();
      await node.agent.start();
    }
    await watcher.start();
    expect(new Set((await members(scene, 'web', 8)).map(({ address }) => address)).size).to.equal(8);
  });

  it('Pods go while their agent is away; it ends their bindings when it is back', async (scene) => {
    await scene.a.agent.stop();
    await scale(scene, 'Deployment', 'web', 0);
    await members(scene, 'web', 0);
    expect(leftOn(scene.a)).to.not.deep.equal([]);
    await scene.a.agent.start();
    await eventually(() => expect(leftOn(scene.a)).to.deep.equal([]), 180_000);
  });
});

/** What a restart must not change: who runs, at which address, in which sandbox. */
async function present(scene: NodeScene): Promise<object> {
  const pods = await members(scene, 'web', 4);
  const uids = new Set(pods.map(({ uid }) => uid));
  const sandboxes = [scene.a, scene.b].flatMap(sandboxesOn).filter(({ uid }) => uids.has(uid));
  return { pods, sandboxes: sandboxes.map(({ containerId }) => containerId).sort() };
}

/** How many calls are under way at a node's agent: the kernel lists its end of each beside the socket that listens. */
function callsAt({ machine }: Node): number {
  const sockets = readFileSync(machine.path('/proc/1/net/unix'), 'utf8');
  return sockets.split(` ${dirname(daemonSocket)}/`).length - 2;
}

function leftOn({ machine }: Node): string[] {
  const folder = machine.path(journal);
  return existsSync(folder) ? readdirSync(folder) : [];
}
