import { expect } from 'chai';
import { addressRecord } from './ledger.ts';
import { eventOf } from '../e2e/scene.ts';
import { eventually } from '../e2e/eventually.ts';
import { pings, sandboxesOn } from './sandboxes.ts';
import type { NodeScene } from './scene.ts';
import { describeOnNodes } from './suite.ts';
import { create, createPod, type Member, members, sandboxOf, scale } from './workloads.ts';

describeOnNodes('real nodes: power', (it) => {
  it('a node that lost its power has its Pods back, at their addresses, in new sandboxes', async (scene) => {
    const before = await create(scene, 'Deployment', 'web', 4);
    await powerCycle(scene, () => scene.b.boot());
    expect(await members(scene, 'web', 4)).to.deep.equal(before);
    const [near, far] = ['node-a', 'node-b'].map((node) => before.find((pod) => pod.node === node));
    if (!near || !far) throw new Error('no Pods');
    await eventually(async () => expect(await pings(sandboxOf(scene, near), far.address)).to.equal(true));
  });

  it('so has one that lost its disk, too; what was bound there to a Pod that went meanwhile is free', async (scene) => {
    const before = await members(scene, 'web', 4);
    await createPod(scene, 'forgotten', { node: scene.b });
    const [lost] = await members(scene, 'forgotten', 1);
    if (!lost) throw new Error('no Pod');
    await powerCycle(scene, async () => {
      await forceDelete(scene, lost);
      await scene.b.boot('new');
    });
    expect(await members(scene, 'web', 4)).to.deep.equal(before);
    await eventually(async () => expect((await addressRecord(scene, lost.address)).state).to.equal('cooling'));
    await scale(scene, 'Deployment', 'web', 0);
    await members(scene, 'web', 0);
  });

  it('a Pod that was force-deleted on a node that nobody reaches keeps its address from others while it answers', async (scene) => {
    const [unreached, witness] = await pair(scene, 'unreached');
    scene.b.cutOff();
    await forceDelete(scene, unreached);
    await createHeir(scene, unreached);
    expect(await pings(sandboxOf(scene, witness), unreached.address)).to.equal(true);
    expect((await addressRecord(scene, unreached.address)).state).to.equal('held');

    await scene.b.reconnect();
    const [heir] = await members(scene, 'heir-of-unreached', 1);
    expect(heir?.address).to.equal(unreached.address);
    await eventually(() => expect(sandboxesOn(scene.b)).to.deep.equal([]));
  });

  it('an address of a node that never came back is free when the Node is deleted', async (scene) => {
    const [lost] = await pair(scene, 'lost');
    await scene.b.powerCut();
    await forceDelete(scene, lost);
    await createHeir(scene, lost);
    await scene.kubernetes.remove('Node', scene.b.name);
    const [heir] = await members(scene, 'heir-of-lost', 1);
    expect(heir?.address).to.equal(lost.address);

    // And should it come back after all, it is as good as new.
    await scene.b.boot();
    await createPod(scene, 'newcomer', { node: scene.b });
    await members(scene, 'newcomer', 1);
  });
});

/** Cuts the power of node-b; resolves when the two Pods of the Deployment there have other sandboxes than before. */
async function powerCycle(scene: NodeScene, powerOn: () => Promise<void>): Promise<void> {
  const sandboxes = (): string[] => {
    const web = sandboxesOn(scene.b).filter(({ pod }) => pod.startsWith('default/web-'));
    return web.map(({ containerId }) => containerId);
  };
  const before = sandboxes();
  expect(before).to.have.length(2);
  await scene.b.powerCut();
  await powerOn();
  await eventually(() => expect(sandboxes().filter((id) => !before.includes(id))).to.have.length(2), 180_000);
}

/** A Pod on node-b that will be lost, and one on node-a that sees whether it still answers. */
async function pair(scene: NodeScene, name: string): Promise<[lost: Member, witness: Member]> {
  await createPod(scene, name, { node: scene.b });
  await createPod(scene, `witness-of-${name}`, { node: scene.a });
  const [[lost], [witness]] = [await members(scene, name, 1), await members(scene, `witness-of-${name}`, 1)];
  if (!lost || !witness) throw new Error('no Pods');
  expect(await pings(sandboxOf(scene, witness), lost.address)).to.equal(true);
  return [lost, witness];
}

/** Takes a Pod away whose node does not answer: its address is held from then on. */
async function forceDelete(scene: NodeScene, { name, address }: Member): Promise<void> {
  await scene.stack.cluster.kubectl(['delete', 'pod', name, '--force', '--grace-period=0']);
  await eventually(async () => expect((await addressRecord(scene, address)).state).to.equal('held'));
}

/** A Pod that asks for the lost one's very address, and is told why it has to wait. */
async function createHeir(scene: NodeScene, { name, address }: Member): Promise<void> {
  const heir = `heir-of-${name}`;
  const annotations = { 'lan.default.kubernetes.io/ip_address': address };
  await createPod(scene, heir, { node: scene.a, annotations });
  await eventOf(scene, heir, 'AcquireAddressFailed', /may still answer on it/);
}
