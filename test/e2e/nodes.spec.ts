/** A Node that is deleted takes the bindings of its released addresses with it, and nobody else's. */
import { expect } from 'chai';
import { type Agent, startAgent } from '../harness/services.ts';
import { recordOf, lastEventOf } from './attached.ts';
import { eventually } from './eventually.ts';
import { plugin } from './plugin.ts';
import {
  addressOf,
  eventOf,
  macvlanConfig,
  makeNetworkAndSubnet,
  networksAnnotation,
  openScene,
  type Scene,
} from './scene.ts';

describe('Nodes that are deleted', function () {
  this.timeout(120_000);
  let scene: Scene;
  let demo: Agent;
  before(async () => {
    scene = await openScene({ nodes: ['node-1', 'node-2', 'node-3'] });
    await makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/24');
    demo = await startAgent(scene.run, { ...scene.stack, node: 'demo' });
  });
  after(() => scene?.run.end());

  /** A Pod on a node, set up by an agent; gives its address. */
  async function bound(pod: string, nodeName: string, { socket }: Agent): Promise<string> {
    const metadata = { name: pod, annotations: { [networksAnnotation]: 'lan' } };
    const containers = [{ name: 'box', image: 'box' }];
    await scene.kubernetes.create({ kind: 'Pod', metadata, spec: { nodeName, restartPolicy: 'Never', containers } });
    const address = await addressOf(scene, pod, 'lan');
    const config = macvlanConfig(scene, 'lan.default');
    const ipam = { ...config.ipam, server_socket: socket };
    const answer = await plugin(scene, { pod, network: 'lan', config: { ...config, name: 'lan', ipam } });
    expect(answer.code, answer.stdout).to.equal(0);
    return address;
  }

  const stateOf = async (address: string): Promise<string | undefined> =>
    (await recordOf(scene, 'lan', address))?.state;

  const expectState = (address: string, state: string): Promise<void> =>
    eventually(async () => {
      expect(await stateOf(address)).to.equal(state);
    });

  const whyUnbound = async (address: string): Promise<string | undefined> =>
    (await lastEventOf(scene, 'lan', address))?.addressUnbound?.cause;

  /** As a force-deleted Pod leaves it: released, and perhaps still answering. */
  async function left(pod: string, nodeName: string, agent: Agent): Promise<string> {
    const address = await bound(pod, nodeName, agent);
    await scene.kubernetes.remove('Pod', pod);
    await expectState(address, 'held');
    return address;
  }

  it('end the bindings of what their Pods have left, and only what they have left', async () => {
    const [node1, node2] = scene.stack.agents as [Agent, Agent];
    const gone = await left('gone', 'node-2', node2);
    const elsewhere = await left('elsewhere', 'node-1', node1);
    const living = await bound('living', 'node-2', node2);

    await scene.kubernetes.remove('Node', 'node-2');
    await expectState(gone, 'cooling');
    expect(await whyUnbound(gone)).to.equal('UNBIND_CAUSE_NODE_DELETED');
    expect([await stateOf(living), await stateOf(elsewhere)]).to.deep.equal(['bound', 'held']);

    await scene.kubernetes.remove('Pod', 'living');
    await expectState(living, 'cooling');
    expect(await whyUnbound(living)).to.equal('UNBIND_CAUSE_NODE_DELETED');
    expect(await stateOf(elsewhere)).to.equal('held');
  });

  it('do so also when they were deleted while no watcher ran', async () => {
    const [, , node3] = scene.stack.agents as [Agent, Agent, Agent];
    const gone = await left('gone-unseen', 'node-3', node3);
    await scene.stack.watcher.stop();
    await scene.kubernetes.remove('Node', 'node-3');
    await scene.stack.watcher.start();
    await expectState(gone, 'cooling');
    expect(await whyUnbound(gone)).to.equal('UNBIND_CAUSE_NODE_DELETED');
  });

  it('are no different from one that is tainted as out of service', async () => {
    const [node1] = scene.stack.agents as [Agent, Agent];
    const shut = await left('shut-down', 'node-1', node1);
    const living = await bound('lives-on', 'node-1', node1);
    const taint = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoSchedule' };
    await scene.kubernetes.patch('Node', 'node-1', { spec: { taints: [taint] } });
    await expectState(shut, 'cooling');
    expect(await whyUnbound(shut)).to.equal('UNBIND_CAUSE_NODE_OUT_OF_SERVICE');
    expect(await stateOf(living)).to.equal('bound');
    await scene.kubernetes.patch('Node', 'node-1', { spec: { taints: [] } });
  });

  it('are not taken for one by a name that never was a Node’s; that its agent has it is told', async () => {
    const kept = await left('kept', '', demo);
    const odd = await bound('odd', 'node-1', demo);
    await eventOf(scene, 'odd', 'BoundOnAnotherNode', /the agent of node demo .* the Pod is on node node-1/);
    await scene.stack.watcher.stop();
    await scene.stack.watcher.start();
    const last = await left('last', 'node-1', scene.stack.agents[0]);
    await scene.kubernetes.remove('Node', 'node-1');
    await expectState(last, 'cooling');
    expect([await stateOf(kept), await stateOf(odd)]).to.deep.equal(['held', 'bound']);
  });
});
