/**
 * Tests a rolling update of a Deployment of 50 Pods on a pool of 60 addresses, with Kubernetes' own
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

  /** Waits until exactly this number of Pods of a version is Running, and no others. */
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

  it('a Deployment of 50 Pods holds 50 distinct addresses', async () => {
    const spec = { replicas: 50, selector: { matchLabels: labels }, template: template('1') };
    await scene.kubernetes.create({ kind: 'Deployment', metadata: { name: 'web' }, spec });
    const addresses = addressesOf(await waitForRollout('1', 50));
    expect(new Set(addresses).size).to.equal(50);
    expect(pool).to.include.members(addresses);
    await expectConsistency(scene.stack);
  });

  it('a rolling update that temporarily needs 63 addresses of 60 completes: waiting Pods get released addresses', async () => {
    await scene.kubernetes.patch('Deployment', 'web', { spec: { template: template('2') } });
    const addresses = addressesOf(await waitForRollout('2', 50));
    expect(new Set(addresses).size).to.equal(50);
    expect(pool).to.include.members(addresses);
    await expectConsistency(scene.stack);
  });

  it('KO-841 a Deployment that is scaled to zero holds no address', async () => {
    await scene.kubernetes.patch('Deployment', 'web', { spec: { replicas: 0 } });
    await waitForRollout('2', 0);
    await eventually(async () => expect(await scene.kubernetes.list('IP')).to.deep.equal([]));
    await expectConsistency(scene.stack);
  });
});
