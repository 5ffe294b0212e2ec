/** Deployments and StatefulSets on two real nodes. */
import { expect } from 'chai';
import { eventually } from '../e2e/support/eventually.ts';
import { killSandbox, canPing, listSandboxes } from './sandboxes.ts';
import { describeOnNodes } from './node-suite.ts';
import { createWorkload, waitForPods, sandboxOf, scaleWorkload } from './workloads.ts';

describeOnNodes('real nodes: workloads', (it) => {
  it('a Deployment and a StatefulSet run on both nodes, each Pod with its own address', async (environment) => {
    const [web, db] = await Promise.all([
      createWorkload(environment, 'Deployment', 'web', 4),
      createWorkload(environment, 'StatefulSet', 'db', 2),
    ]);
    expect(web.map(({ node }) => node)).to.have.members(['node-a', 'node-a', 'node-b', 'node-b']);
    expect(db.map(({ node }) => node)).to.have.members(['node-a', 'node-b']);
    expect(new Set([...web, ...db].map(({ address }) => address)).size).to.equal(6);
  });

  it('Pods reach each other, on one node and across nodes', async (environment) => {
    const all = [...(await waitForPods(environment, 'web', 4)), ...(await waitForPods(environment, 'db', 2))];
    for (const from of all)
      for (const to of all)
        expect(await canPing(sandboxOf(environment, from), to.address), `${from.name} → ${to.name}`).to.equal(true);
  });

  it('a killed sandbox is replaced, and its Pod keeps its address', async (environment) => {
    const [pod] = await waitForPods(environment, 'web', 4);
    if (!pod) throw new Error('no Pod');
    const before = sandboxOf(environment, pod);
    await killSandbox(before);
    await eventually(() => expect(sandboxOf(environment, pod).containerId).to.not.equal(before.containerId), 60_000);
    expect(await waitForPods(environment, 'web', 4)).to.deep.include(pod);
  });

  it('a drained node has no Pod, no link and no binding; its Pods run on the other node', async (environment) => {
    const { kubectl } = environment.stack.cluster;
    await kubectl(['drain', 'node-a', '--force', '--timeout=60s']);
    const [web, db] = [await waitForPods(environment, 'web', 4), await waitForPods(environment, 'db', 2)];
    expect(new Set([...web, ...db].map(({ node }) => node))).to.deep.equal(new Set(['node-b']));
    await eventually(() => expect(listSandboxes(environment.a)).to.deep.equal([]));
    await kubectl(['uncordon', 'node-a']);
  });

  it('workloads leave nothing after they are scaled to zero', async (environment) => {
    await scaleWorkload(environment, 'Deployment', 'web', 0);
    await scaleWorkload(environment, 'StatefulSet', 'db', 0);
    await Promise.all([waitForPods(environment, 'web', 0), waitForPods(environment, 'db', 0)]);
    await eventually(() => expect([environment.a, environment.b].flatMap(listSandboxes)).to.deep.equal([]));
    await eventually(async () => expect(await environment.kubernetes.list('IP')).to.deep.equal([]));
  });
});
