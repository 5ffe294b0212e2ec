/** A Deployment of 50 Pods on a pool of 60 addresses is rolled over, by Kubernetes' own controllers. */
import { expect } from 'chai';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import { type Kubelets, playKubelets } from './kubelet.ts';
import type { KubeObject } from './kubernetes.ts';
import { makeNetworkAndSubnet, networksAnnotation, openScene, type Scene } from './scene.ts';

const key = 'lan.default.kubernetes.io';
const pool = Array.from({ length: 60 }, (_, index) => `10.9.0.${100 + index}`);
const labels = { app: 'web' };
const patienceMs = 90_000;

describe('a Deployment of 50 Pods on a pool of 60 addresses', function () {
  this.timeout(180_000);
  let scene: Scene;
  let kubelets: Kubelets;
  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'lan', '10.9.0.0/24');
    kubelets = playKubelets(scene, ['node-1']);
  });
  after(async () => {
    await kubelets?.stop();
    await scene?.run.end();
  });

  const template = (version: string): object => ({
    metadata: {
      labels,
      annotations: { [networksAnnotation]: 'default/lan', [`${key}/ip_pool`]: pool.join(','), version },
    },
    spec: { containers: [{ name: 'box', image: 'box' }] },
  });

  /** All Pods of a version, when there are so many, and no others; each Ready. */
  const rolledOut = (version: string, count: number): Promise<KubeObject[]> =>
    eventually(async () => {
      const pods = await scene.kubernetes.list('Pod', 'labelSelector=app=web');
      const versions = pods.map(({ metadata }) => metadata.annotations?.['version']);
      expect(versions.filter((each) => each === version)).to.have.length(count);
      expect(versions).to.have.length(count);
      expect(pods.every(({ status }) => status?.['phase'] === 'Running')).to.equal(true);
      return pods;
    }, patienceMs);

  const addressesOf = (pods: readonly KubeObject[]): string[] =>
    pods.map(({ metadata }) => metadata.annotations?.[`${key}/ip_address`] ?? '');

  it('has 50 of them', async () => {
    const spec = { replicas: 50, selector: { matchLabels: labels }, template: template('1') };
    await scene.kubernetes.create({ kind: 'Deployment', metadata: { name: 'web' }, spec });
    const addresses = addressesOf(await rolledOut('1', 50));
    expect(new Set(addresses).size).to.equal(50);
    expect(pool).to.include.members(addresses);
    await expectAgreement(scene.stack);
  });

  it('has 50 of them after a rolling update that wants 63 for a while: who finds none gets one that is freed', async () => {
    await scene.kubernetes.patch('Deployment', 'web', { spec: { template: template('2') } });
    const addresses = addressesOf(await rolledOut('2', 50));
    expect(new Set(addresses).size).to.equal(50);
    expect(pool).to.include.members(addresses);
    await expectAgreement(scene.stack);
  });

  it('KO-841 has none when it is scaled to nothing', async () => {
    await scene.kubernetes.patch('Deployment', 'web', { spec: { replicas: 0 } });
    await rolledOut('2', 0);
    await eventually(async () => expect(await scene.kubernetes.list('IP')).to.deep.equal([]));
    await expectAgreement(scene.stack);
  });
});
