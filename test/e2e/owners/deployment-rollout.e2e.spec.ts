/**
 * A rolling update of a Deployment of 50 Pods on a pool of 60 addresses, by Kubernetes' own
 * controllers.
 */
import { expect } from 'chai';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeKubelets, startFakeKubelets } from '../support/fake-kubelets.ts';
import type { KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import {
  makeNetworkAndSubnet,
  networksAnnotation,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

const key = 'lan.default.kubernetes.io';
const pool = Array.from({ length: 60 }, (_, index) => `10.9.0.${100 + index}`);
const labels = { app: 'web' };
const timeoutMs = 90_000;

describe('a Deployment of 50 Pods on a pool of 60 addresses', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let kubelets: FakeKubelets;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.9.0.0/24');
    kubelets = startFakeKubelets(scene, ['node-1']);
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

  /** The Pods of a version. Waits until this number is Running, and there are no others. */
  const waitForRollout = (version: string, count: number): Promise<KubeObject[]> =>
    eventually(async () => {
      const pods = await scene.kubernetes.list('Pod', 'labelSelector=app=web');
      const versions = pods.map(({ metadata }) => metadata.annotations?.['version']);
      expect(versions.filter((each) => each === version)).to.have.length(count);
      expect(versions).to.have.length(count);
      expect(pods.every(({ status }) => status?.['phase'] === 'Running')).to.equal(true);
      return pods;
    }, timeoutMs);

  const addressesOf = (pods: readonly KubeObject[]): string[] =>
    pods.map(({ metadata }) => metadata.annotations?.[`${key}/ip_address`] ?? '');

  it('holds 50 distinct addresses', async () => {
    const spec = { replicas: 50, selector: { matchLabels: labels }, template: template('1') };
    await scene.kubernetes.create({ kind: 'Deployment', metadata: { name: 'web' }, spec });
    const addresses = addressesOf(await waitForRollout('1', 50));
    expect(new Set(addresses).size).to.equal(50);
    expect(pool).to.include.members(addresses);
    await expectConsistency(scene.stack);
  });

  it('holds 50 addresses after a rolling update that needs 63 for a time: Pods without one get those that are released', async () => {
    await scene.kubernetes.patch('Deployment', 'web', { spec: { template: template('2') } });
    const addresses = addressesOf(await waitForRollout('2', 50));
    expect(new Set(addresses).size).to.equal(50);
    expect(pool).to.include.members(addresses);
    await expectConsistency(scene.stack);
  });

  it('KO-841 holds no address when it is scaled to zero', async () => {
    await scene.kubernetes.patch('Deployment', 'web', { spec: { replicas: 0 } });
    await waitForRollout('2', 0);
    await eventually(async () => expect(await scene.kubernetes.list('IP')).to.deep.equal([]));
    await expectConsistency(scene.stack);
  });
});
