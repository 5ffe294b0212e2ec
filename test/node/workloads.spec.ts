import { expect } from 'chai';
import { eventually } from '../e2e/eventually.ts';
import { killSandbox, pings, sandboxesOn } from './sandboxes.ts';
import { describeOnNodes } from './suite.ts';
import { create, members, sandboxOf, scale } from './workloads.ts';

describeOnNodes('real nodes: workloads', (it) => {
  it('a Deployment and a StatefulSet run on both nodes, each Pod at an address of its own', async (scene) => {
    const [web, db] = await Promise.all([create(scene, 'Deployment', 'web', 4), create(scene, 'StatefulSet', 'db', 2)]);
    expect(web.map(({ node }) => node)).to.have.members(['node-a', 'node-a', 'node-b', 'node-b']);
    expect(db.map(({ node }) => node)).to.have.members(['node-a', 'node-b']);
    expect(new Set([...web, ...db].map(({ address }) => address)).size).to.equal(6);
  });

  it('they reach each other, on one node and across nodes', async (scene) => {
    const all = [...(await members(scene, 'web', 4)), ...(await members(scene, 'db', 2))];
    for (const from of all)
      for (const to of all)
        expect(await pings(sandboxOf(scene, from), to.address), `${from.name} → ${to.name}`).to.equal(true);
  });

  it('a sandbox that dies is replaced, and its Pod keeps its address', async (scene) => {
    const [pod] = await members(scene, 'web', 4);
    if (!pod) throw new Error('no Pod');
    const before = sandboxOf(scene, pod);
    await killSandbox(before);
    await eventually(() => expect(sandboxOf(scene, pod).containerId).to.not.equal(before.containerId), 60_000);
    expect(await members(scene, 'web', 4)).to.deep.include(pod);
  });

  it('a drained node has no Pod, no link and no binding; its Pods run on the other node', async (scene) => {
    const { kubectl } = scene.stack.cluster;
    await kubectl(['drain', 'node-a', '--force', '--timeout=60s']);
    const [web, db] = [await members(scene, 'web', 4), await members(scene, 'db', 2)];
    expect(new Set([...web, ...db].map(({ node }) => node))).to.deep.equal(new Set(['node-b']));
    await eventually(() => expect(sandboxesOn(scene.a)).to.deep.equal([]));
    await kubectl(['uncordon', 'node-a']);
  });

  it('scaled to nothing, they leave nothing', async (scene) => {
    await scale(scene, 'Deployment', 'web', 0);
    await scale(scene, 'StatefulSet', 'db', 0);
    await Promise.all([members(scene, 'web', 0), members(scene, 'db', 0)]);
    await eventually(() => expect([scene.a, scene.b].flatMap(sandboxesOn)).to.deep.equal([]));
    await eventually(async () => expect(await scene.kubernetes.list('IP')).to.deep.equal([]));
  });
});
