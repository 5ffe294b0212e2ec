/**
 * Tests that each program can be killed and started again: no address is lost or allocated twice,
 * and waiting requests continue.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import type { CniAnswer } from '../../harness/cni.ts';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import { readSystemSnapshot } from '../support/system-snapshot.ts';
import { resultAddresses, callKubeOvnPlugin } from '../support/plugin-call.ts';
import {
  waitForAddress,
  waitForEvent,
  makeNetworkAndSubnet,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

const ip = 'lan.default.kubernetes.io/ip_address';

describe('restarts of a component', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/24');
    for (const pod of ['stays', 'goes', 'returns']) await makePod(scene, pod, 'lan');
    for (const pod of ['stays', 'goes', 'returns']) await waitForAddress(scene, pod, 'lan');
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  const add = (pod: string): Promise<CniAnswer> => callKubeOvnPlugin(scene, { pod, network: 'lan' });

  it('a DEL that was saved while the allocator was down does not end the binding of a later ADD', async () => {
    const [agent] = scene.stack.agents;
    const pendingDels = (): string[] => readdirSync(agent.pendingDels);
    expect((await add('stays')).code).to.equal(0);
    await scene.stack.allocator.kill();
    expect((await callKubeOvnPlugin(scene, { pod: 'stays', network: 'lan', command: 'DEL' })).code).to.equal(0);
    expect(pendingDels()).to.have.length(1);
    await scene.stack.allocator.start();
    expect((await add('stays')).code).to.equal(0);
    await eventually(() => expect(pendingDels()).to.deep.equal([]));
    const { allocations } = await readSystemSnapshot(scene.stack, scene.run.signal);
    expect(allocations.find(({ attachment }) => attachment?.pod === 'stays')?.bindings).to.have.length(1);
  });

  it('KO-1769 Pods that are created while the watcher is down get addresses, and deleted Pods release theirs', async () => {
    const before = await waitForAddress(scene, 'stays', 'lan');
    await scene.stack.watcher.kill();
    await scene.kubernetes.remove('Pod', 'goes');
    await scene.kubernetes.remove('Pod', 'returns');
    await makePod(scene, 'returns', 'lan');
    await makePod(scene, 'comes', 'lan');
    await scene.stack.watcher.start();
    await Promise.all(['comes', 'returns'].map((pod) => waitForAddress(scene, pod, 'lan')));
    expect(await waitForAddress(scene, 'stays', 'lan')).to.equal(before);
    await eventually(async () => {
      const names = (await scene.kubernetes.list('IP')).map(({ metadata }) => metadata.name);
      expect(names).to.have.members(['stays', 'returns', 'comes'].map((pod) => `${pod}.default.lan.default`));
    });
  });

  it('a waiting ADD is answered after a restart of the allocator, which has the earlier allocations', async () => {
    await scene.stack.allocator.kill();
    await makePod(scene, 'patient', 'lan');
    const [waiting, repeated] = [add('patient'), add('stays')];
    await scene.stack.allocator.start();
    expect(resultAddresses(await repeated)).to.deep.equal([`${await waitForAddress(scene, 'stays', 'lan')}/24`]);
    expect(resultAddresses(await waiting)).to.deep.equal([`${await waitForAddress(scene, 'patient', 'lan')}/24`]);
  });

  it('a waiting ADD is answered after a restart of etcd', async () => {
    await scene.stack.etcd.kill();
    await makePod(scene, 'enduring', 'lan');
    const waiting = add('enduring');
    await scene.stack.etcd.start();
    expect(resultAddresses(await waiting)).to.deep.equal([`${await waitForAddress(scene, 'enduring', 'lan')}/24`]);
  });

  it('SP-2517 a waiting ADD is answered by the next agent after a restart or a kill of the agent', async () => {
    const [agent] = scene.stack.agents;
    await makePod(scene, 'blocker', 'lan', { [ip]: '10.8.0.50' });
    await waitForAddress(scene, 'blocker', 'lan');
    await makePod(scene, 'blocked', 'lan', { [ip]: '10.8.0.50' });
    await waitForEvent(scene, 'blocked', 'AcquireAddressFailed', /default\/blocker/);

    const waiting = add('blocked');
    for (const disrupt of [() => agent.stop(), () => agent.kill()]) {
      await waitUntilRead();
      await disrupt();
      await agent.start();
    }
    await scene.kubernetes.remove('Pod', 'blocker');
    expect(resultAddresses(await waiting)).to.deep.equal(['10.8.0.50/24']);
  });

  /** Waits until the agent has read one waiting ADD. */
  async function waitUntilRead(): Promise<void> {
    // The kernel lists the listening socket and the agent's end of each connection, all with the
    // path of the socket.
    const folder = dirname(scene.stack.agents[0].socket);
    const countSockets = (): number => readFileSync('/proc/net/unix', 'utf8').split(` ${folder}/`).length - 1;
    await eventually(() => expect(countSockets()).to.equal(2));
    // Sends a later request: after its reply, the agent has read the waiting ADD.
    expect((await callKubeOvnPlugin(scene, { pod: 'absent', network: 'lan' })).result).to.have.property('code', 11);
  }
});
