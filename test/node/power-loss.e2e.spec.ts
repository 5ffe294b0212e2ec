/** Nodes lose power, disk or network, and the ledger stays correct. */
import { expect } from 'chai';
import { getAddressRecord } from './address-record.ts';
import { waitForEvent } from '../e2e/support/test-environment.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { canPing, listSandboxes } from './sandboxes.ts';
import type { NodeEnvironment } from './node-environment.ts';
import { describeOnNodes } from './node-suite.ts';
import { createWorkload, createPod, type WorkloadPod, waitForPods, sandboxOf, scaleWorkload } from './workloads.ts';

describeOnNodes('real nodes: power', (it) => {
  it('CA-4190 a node restarts its Pods at their addresses in new sandboxes after a power loss', async (environment) => {
    const before = await createWorkload(environment, 'Deployment', 'web', 4);
    await powerCycle(environment, () => environment.b.boot());
    expect(await waitForPods(environment, 'web', 4)).to.deep.equal(before);
    const [near, far] = ['node-a', 'node-b'].map((node) => before.find((pod) => pod.node === node));
    if (!near || !far) throw new Error('no Pods');
    await eventually(async () => expect(await canPing(sandboxOf(environment, near), far.address)).to.equal(true));
  });

  it('a node restarts its Pods after a disk loss, and the address of a Pod that was deleted in the mean time is released', async (environment) => {
    const before = await waitForPods(environment, 'web', 4);
    await createPod(environment, 'deleted-pod', { node: environment.b });
    const [lost] = await waitForPods(environment, 'deleted-pod', 1);
    if (!lost) throw new Error('no Pod');
    await powerCycle(environment, async () => {
      await forceDelete(environment, lost);
      await environment.b.boot('new');
    });
    expect(await waitForPods(environment, 'web', 4)).to.deep.equal(before);
    await eventually(async () =>
      expect((await getAddressRecord(environment, lost.address)).state).to.equal('cooldown'),
    );
    await scaleWorkload(environment, 'Deployment', 'web', 0);
    await waitForPods(environment, 'web', 0);
  });

  it('a Pod that was force-deleted on an unreachable node blocks its address while it answers', async (environment) => {
    const [unreached, witness] = await createLostAndWitness(environment, 'unreached');
    environment.b.disconnect();
    await forceDelete(environment, unreached);
    await createSuccessor(environment, unreached);
    expect(await canPing(sandboxOf(environment, witness), unreached.address)).to.equal(true);
    expect((await getAddressRecord(environment, unreached.address)).state).to.equal('held');

    await environment.b.reconnect();
    const [successor] = await waitForPods(environment, 'successor-of-unreached', 1);
    expect(successor?.address).to.equal(unreached.address);
    await eventually(() => expect(listSandboxes(environment.b)).to.deep.equal([]));
  });

  it('an address of a lost node is released when the Node is deleted', async (environment) => {
    const [lost] = await createLostAndWitness(environment, 'lost');
    await environment.b.powerCut();
    await forceDelete(environment, lost);
    await createSuccessor(environment, lost);
    await environment.kubernetes.remove('Node', environment.b.name);
    const [successor] = await waitForPods(environment, 'successor-of-lost', 1);
    expect(successor?.address).to.equal(lost.address);

    // A node that boots later serves Pods again
    await environment.b.boot();
    await createPod(environment, 'newcomer', { node: environment.b });
    await waitForPods(environment, 'newcomer', 1);
  });
});

/**
 * Cuts the power of node-b. Resolves when the two Pods of the Deployment there have new sandboxes.
 */
async function powerCycle(environment: NodeEnvironment, powerOn: () => Promise<void>): Promise<void> {
  const sandboxes = (): string[] => {
    const web = listSandboxes(environment.b).filter(({ pod }) => pod.startsWith('default/web-'));
    return web.map(({ containerId }) => containerId);
  };
  const before = sandboxes();
  expect(before).to.have.length(2);
  await environment.b.powerCut();
  await powerOn();
  await eventually(() => expect(sandboxes().filter((id) => !before.includes(id))).to.have.length(2), 180_000);
}

/** Creates a Pod on node-b that will be lost, and a witness on node-a that pings it. */
async function createLostAndWitness(
  environment: NodeEnvironment,
  name: string,
): Promise<[lost: WorkloadPod, witness: WorkloadPod]> {
  await createPod(environment, name, { node: environment.b });
  await createPod(environment, `witness-of-${name}`, { node: environment.a });
  const [[lost], [witness]] = [
    await waitForPods(environment, name, 1),
    await waitForPods(environment, `witness-of-${name}`, 1),
  ];
  if (!lost || !witness) throw new Error('no Pods');
  expect(await canPing(sandboxOf(environment, witness), lost.address)).to.equal(true);
  return [lost, witness];
}

/** Deletes a Pod without its node. Its address is then held. */
async function forceDelete(environment: NodeEnvironment, { name, address }: WorkloadPod): Promise<void> {
  await environment.stack.cluster.kubectl(['delete', 'pod', name, '--force', '--grace-period=0']);
  await eventually(async () => expect((await getAddressRecord(environment, address)).state).to.equal('held'));
}

/**
 * Creates a Pod that requests the address of the lost Pod. Expects an Event with the reason why it
 * waits.
 */
async function createSuccessor(environment: NodeEnvironment, { name, address }: WorkloadPod): Promise<void> {
  const successor = `successor-of-${name}`;
  const annotations = { 'lan.default.kubernetes.io/ip_address': address };
  await createPod(environment, successor, { node: environment.a, annotations });
  await waitForEvent(environment, successor, 'AcquireAddressFailed', /may still answer on it/);
}
