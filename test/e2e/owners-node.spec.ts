/** A node that disappears with its Pods: Kubernetes collects them, and their owners make others elsewhere. */
import { expect } from 'chai';
import { expectAgreement } from './agreement.ts';
import { recordOf } from './attached.ts';
import { eventually } from './eventually.ts';
import { type Kubelets, playKubelets } from './kubelet.ts';
import type { KubeObject } from './kubernetes.ts';
import { plugin } from './plugin.ts';
import { macvlanConfig, makeNetworkAndSubnet, makePod, networksAnnotation, openScene, type Scene } from './scene.ts';

const key = 'lan.default.kubernetes.io/ip_address';
/** Kubernetes waits for 40 s before it collects Pods of a node that is not there. */
const patienceMs = 150_000;

describe('WB-75 a node that disappears with its Pods', function () {
  this.timeout(300_000);
  let scene: Scene;
  let kubelets: Kubelets;
  before(async () => {
    scene = await openScene({ nodes: ['node-1', 'node-2'] });
    await makeNetworkAndSubnet(scene, 'lan', '10.13.0.0/24');
    kubelets = playKubelets(scene, ['node-1', 'node-2']);
  });
  after(async () => {
    await kubelets?.stop();
    await scene?.run.end();
  });

  const pods = (count: number): Promise<KubeObject[]> =>
    eventually(async () => {
      const all = await scene.kubernetes.list('Pod', 'labelSelector=app');
      expect(all.map(({ status }) => status?.['phase'])).to.deep.equal(Array.from({ length: count }, () => 'Running'));
      return all;
    }, patienceMs);
  const onNode2 = ({ spec }: KubeObject): boolean => spec?.['nodeName'] === 'node-2';
  const addressOf = ({ metadata }: KubeObject): string => metadata.annotations?.[key] ?? '';

  /** As the runtime of node-2 does it. */
  async function bind(pod: string): Promise<void> {
    const config = macvlanConfig(scene, 'lan.default');
    const ipam = { ...config.ipam, server_socket: scene.stack.agents[1]?.socket };
    const answer = await plugin(scene, { pod, network: 'lan', config: { ...config, name: 'lan', ipam } });
    expect(answer.code, answer.stdout).to.equal(0);
  }

  it('leaves nothing behind: members keep their addresses on another node, all others are released', async () => {
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
    const before = await pods(12);
    const lost = before.filter(onNode2);
    expect(lost.length).to.be.greaterThan(2);
    for (const { metadata } of lost) await bind(metadata.name);

    kubelets.lose('node-2');
    await scene.stack.agents[1]?.kill();
    await scene.kubernetes.remove('Node', 'node-2');
    await eventually(async () => {
      const now = await scene.kubernetes.list('Pod', 'labelSelector=app');
      expect(now.filter(onNode2)).to.deep.equal([]);
    }, patienceMs);
    const after = await pods(12);

    for (const pod of before.filter(({ metadata }) => metadata.name.startsWith('set-'))) {
      const again = after.find(({ metadata }) => metadata.name === pod.metadata.name);
      expect(again && addressOf(again), pod.metadata.name).to.equal(addressOf(pod));
    }
    for (const pod of lost.filter(({ metadata }) => metadata.name.startsWith('web-')))
      await eventually(async () => {
        expect((await recordOf(scene, 'lan', addressOf(pod)))?.state).to.equal('cooling');
      });
    await expectAgreement(scene.stack);
  });

  it('did not take anything from a Pod that is on another', async () => {
    await makePod(scene, 'bare', 'lan');
    await eventually(async () => expect(addressOf(await scene.kubernetes.get('Pod', 'bare'))).to.not.equal(''));
    await expectAgreement(scene.stack);
  });
});
