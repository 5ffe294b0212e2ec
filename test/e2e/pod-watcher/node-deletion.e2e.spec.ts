/** Tests that the deletion of a Node ends the bindings of its released addresses, and no others. */
import { expect } from 'chai';
import { type AgentServer, startAgent } from '../../harness/services.ts';
import { readAddressRecord, readLastEvent } from '../support/attachments.ts';
import { eventually } from '../support/eventually.ts';
import { callKubeOvnPlugin } from '../support/plugin-call.ts';
import {
  waitForAddress,
  waitForEvent,
  macvlanConfig,
  makeNetworkAndSubnet,
  networksAnnotation,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

describe('Deleted Nodes', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let demo: AgentServer;
  before(async () => {
    scene = await openTestEnvironment({ nodes: ['node-1', 'node-2', 'node-3'] });
    await makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/24');
    demo = await startAgent(scene.run, { ...scene.stack, node: 'demo' });
  });
  after(() => scene?.run.end());

  /** Creates a Pod on a node and binds it by an agent. Returns its address. */
  async function bindPod(pod: string, nodeName: string, { socket }: AgentServer): Promise<string> {
    const metadata = { name: pod, annotations: { [networksAnnotation]: 'lan' } };
    const containers = [{ name: 'box', image: 'box' }];
    await scene.kubernetes.create({ kind: 'Pod', metadata, spec: { nodeName, restartPolicy: 'Never', containers } });
    const address = await waitForAddress(scene, pod, 'lan');
    const config = macvlanConfig(scene, 'lan.default');
    const ipam = { ...config.ipam, server_socket: socket };
    const answer = await callKubeOvnPlugin(scene, { pod, network: 'lan', config: { ...config, name: 'lan', ipam } });
    expect(answer.code, answer.stdout).to.equal(0);
    return address;
  }

  const stateOf = async (address: string): Promise<string | undefined> =>
    (await readAddressRecord(scene, 'lan', address))?.state;

  const expectState = (address: string, state: string): Promise<void> =>
    eventually(async () => {
      expect(await stateOf(address)).to.equal(state);
    });

  const unbindCauseOf = async (address: string): Promise<string | undefined> =>
    (await readLastEvent(scene, 'lan', address))?.addressUnbound?.cause;

  /** Returns a force-deleted Pod's address: released, but its container can still answer. */
  async function bindAndDelete(pod: string, nodeName: string, agent: AgentServer): Promise<string> {
    const address = await bindPod(pod, nodeName, agent);
    await scene.kubernetes.remove('Pod', pod);
    await expectState(address, 'held');
    return address;
  }

  it('A deleted Node ends the bindings of its deleted Pods, and no others', async () => {
    const [node1, node2] = scene.stack.agents as [AgentServer, AgentServer];
    const deleted = await bindAndDelete('deleted', 'node-2', node2);
    const elsewhere = await bindAndDelete('elsewhere', 'node-1', node1);
    const living = await bindPod('living', 'node-2', node2);

    await scene.kubernetes.remove('Node', 'node-2');
    await expectState(deleted, 'cooldown');
    expect(await unbindCauseOf(deleted)).to.equal('UNBIND_CAUSE_NODE_DELETED');
    expect([await stateOf(living), await stateOf(elsewhere)]).to.deep.equal(['bound', 'held']);

    await scene.kubernetes.remove('Pod', 'living');
    await expectState(living, 'cooldown');
    expect(await unbindCauseOf(living)).to.equal('UNBIND_CAUSE_NODE_DELETED');
    expect(await stateOf(elsewhere)).to.equal('held');
  });

  it('A Node that is deleted while no watcher runs ends the bindings of its deleted Pods', async () => {
    const [, , node3] = scene.stack.agents as [AgentServer, AgentServer, AgentServer];
    const deleted = await bindAndDelete('deleted-unseen', 'node-3', node3);
    await scene.stack.watcher.stop();
    await scene.kubernetes.remove('Node', 'node-3');
    await scene.stack.watcher.start();
    await expectState(deleted, 'cooldown');
    expect(await unbindCauseOf(deleted)).to.equal('UNBIND_CAUSE_NODE_DELETED');
  });

  it('The out-of-service taint ends bindings as a deleted Node does', async () => {
    const [node1] = scene.stack.agents as [AgentServer, AgentServer];
    const shut = await bindAndDelete('shut-down', 'node-1', node1);
    const living = await bindPod('lives-on', 'node-1', node1);
    const taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoSchedule' };
    await scene.kubernetes.patch('Node', 'node-1', { spec: { taints: [taint] } });
    await expectState(shut, 'cooldown');
    expect(await unbindCauseOf(shut)).to.equal('UNBIND_CAUSE_NODE_OUT_OF_SERVICE');
    expect(await stateOf(living)).to.equal('bound');
    await scene.kubernetes.patch('Node', 'node-1', { spec: { taints: [] } });
  });

  it('An agent whose name was never a Node’s keeps its bindings, and an Event reports it', async () => {
    const kept = await bindAndDelete('kept', '', demo);
    const odd = await bindPod('odd', 'node-1', demo);
    await waitForEvent(scene, 'odd', 'BoundOnAnotherNode', /the agent of node demo .* the Pod is on node node-1/);
    await scene.stack.watcher.stop();
    await scene.stack.watcher.start();
    const last = await bindAndDelete('last', 'node-1', scene.stack.agents[0]);
    await scene.kubernetes.remove('Node', 'node-1');
    await expectState(last, 'cooldown');
    expect([await stateOf(kept), await stateOf(odd)]).to.deep.equal(['held', 'bound']);
  });
});
