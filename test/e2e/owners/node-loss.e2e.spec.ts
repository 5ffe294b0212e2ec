/**
 * Tests the loss of a node with its Pods: Kubernetes deletes them, and their owners create others
 * on another node.
 */
import { expect } from 'chai';
import { expectConsistency } from '../support/consistency.ts';
import { readAddressRecord } from '../support/attachments.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeKubelets, startFakeKubelets } from '../support/fake-kubelets.ts';
import type { KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import { callKubeOvnPlugin } from '../support/plugin-call.ts';
import {
  macvlanConfig,
  makeNetworkAndSubnet,
  makePod,
  networksAnnotation,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

const key = 'lan.default.kubernetes.io/ip_address';
/** A timeout beyond the 40 s after which Kubernetes deletes the Pods of a missing node. */
const timeoutMs = 150_000;

describe('WB-75 the loss of a node with its Pods', function () {
  this.timeout(300_000);
  let scene: TestEnvironment;
  let kubelets: FakeKubelets;
  before(async () => {
    scene = await openTestEnvironment({ nodes: ['node-1', 'node-2'] });
    await makeNetworkAndSubnet(scene, 'lan', '10.13.0.0/24');
    kubelets = startFakeKubelets(scene, ['node-1', 'node-2']);
  });
  after(async () => {
    await kubelets?.stop();
    await scene?.run.end();
  });

  const waitForPods = (count: number): Promise<KubeObject[]> =>
    eventually(async () => {
      const all = await scene.kubernetes.list('Pod', 'labelSelector=app');
      expect(all.map(({ status }) => status?.['phase'])).to.deep.equal(Array.from({ length: count }, () => 'Running'));
      return all;
    }, timeoutMs);
  const onNode2 = ({ spec }: KubeObject): boolean => spec?.['nodeName'] === 'node-2';
  const addressOf = ({ metadata }: KubeObject): string => metadata.annotations?.[key] ?? '';

  /** Calls ADD as the runtime of node-2. */
  async function bind(pod: string): Promise<void> {
    const config = macvlanConfig(scene, 'lan.default');
    const ipam = { ...config.ipam, server_socket: scene.stack.agents[1]?.socket };
    const answer = await callKubeOvnPlugin(scene, { pod, network: 'lan', config: { ...config, name: 'lan', ipam } });
    expect(answer.code, answer.stdout).to.equal(0);
  }

  it('the loss of a node releases the addresses of its Pods, except those of StatefulSet members, which keep them on another node', async () => {
    for (const [kind, name] of [
      ['StatefulSet', 'set'],
      ['Deployment', 'web'],
    ] as const) {
      const annotations = { [networksAnnotation]: 'lan' };
      const template = {
        metadata: { labels: { app: name }, annotations },
        spec: { containers: [{ name: 'box', image: 'box' }] },
      };
      const more = kind === 'StatefulSet' ? { podManagementPolicy: 'Parallel', serviceName: name } : {};
      const spec = { replicas: 6, selector: { matchLabels: { app: name } }, template, ...more };
      await scene.kubernetes.create({ kind, metadata: { name }, spec });
    }
    const before = await waitForPods(12);
    const lost = before.filter(onNode2);
    expect(lost.length).to.be.greaterThan(2);
    for (const { metadata } of lost) await bind(metadata.name);

    kubelets.loseNode('node-2');
    await scene.stack.agents[1]?.kill();
    await scene.kubernetes.remove('Node', 'node-2');
    await eventually(async () => {
      const now = await scene.kubernetes.list('Pod', 'labelSelector=app');
      expect(now.filter(onNode2)).to.deep.equal([]);
    }, timeoutMs);
    const after = await waitForPods(12);

    for (const pod of before.filter(({ metadata }) => metadata.name.startsWith('set-'))) {
      const again = after.find(({ metadata }) => metadata.name === pod.metadata.name);
      expect(again && addressOf(again), pod.metadata.name).to.equal(addressOf(pod));
    }
    for (const pod of lost.filter(({ metadata }) => metadata.name.startsWith('web-')))
      await eventually(async () => {
        expect((await readAddressRecord(scene, 'lan', addressOf(pod)))?.state).to.equal('cooldown');
      });
    await expectConsistency(scene.stack);
  });

  it('a new Pod gets an address after the loss of a node', async () => {
    await makePod(scene, 'bare', 'lan');
    await eventually(async () => expect(addressOf(await scene.kubernetes.get('Pod', 'bare'))).to.not.equal(''));
    await expectConsistency(scene.stack);
  });
});
