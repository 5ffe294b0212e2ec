/** Tests a Deployment whose Pods share a list of addresses, with Kubernetes' own controllers. */
import { expect } from 'chai';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import type { KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import {
  waitForAddress,
  waitForEvent,
  makeNetworkAndSubnet,
  networksAnnotation,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

const key = 'lan.default.kubernetes.io';
const pool = ['10.7.0.200', '10.7.0.201', '10.7.0.202'];

describe('a Deployment with ip_pool', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.7.0.0/24');
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  const scale = (replicas: number): Promise<KubeObject> =>
    scene.kubernetes.patch('Deployment', 'web', { spec: { replicas } });

  /** Waits until these numbers of Pods have an address or none. Returns the Pods. */
  const waitForMembers = (served: number, waiting: number): Promise<{ served: KubeObject[]; waiting: KubeObject[] }> =>
    eventually(async () => {
      const pods = await scene.kubernetes.list('Pod', 'labelSelector=app=web');
      const has = (pod: KubeObject): boolean => pod.metadata.annotations?.[`${key}/allocated`] === 'true';
      const now = { served: pods.filter(has), waiting: pods.filter((pod) => !has(pod)) };
      expect([now.served.length, now.waiting.length]).to.deep.equal([served, waiting]);
      return now;
    });

  const addressesOf = (pods: readonly KubeObject[]): (string | undefined)[] =>
    pods.map(({ metadata }) => metadata.annotations?.[`${key}/ip_address`]);

  it('two Pods of a Deployment get two of the three addresses of its ip_pool', async () => {
    const labels = { app: 'web' };
    const annotations = { [networksAnnotation]: 'default/lan', [`${key}/ip_pool`]: pool.join(',') };
    const template = { metadata: { labels, annotations }, spec: { containers: [{ name: 'box', image: 'box' }] } };
    await scene.kubernetes.create({
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    });
    const { served } = await waitForMembers(2, 0);
    expect(addressesOf(served)).to.have.members(pool.slice(0, 2));
  });

  it('a third Pod of a Deployment gets the third address of its ip_pool', async () => {
    await scale(3);
    expect(addressesOf((await waitForMembers(3, 0)).served)).to.have.members(pool);
  });

  it('a fourth Pod waits for an address of ip_pool, gets an Event with the holders, and then a released address', async () => {
    await scale(4);
    const { served, waiting } = await waitForMembers(3, 1);
    const [fourth] = waiting.map(({ metadata }) => metadata.name);
    const holders = served.map(({ metadata }) => `default/${metadata.name}`);
    const message = await waitForEvent(
      scene,
      fourth ?? '',
      'AcquireAddressFailed',
      /AddressConflict: none of the requested addresses can be allocated: .*; the Pod waits/,
    );
    for (const part of [...holders, ...pool]) expect(message).to.contain(part);

    const [leaving] = served;
    const cost = { 'controller.kubernetes.io/pod-deletion-cost': '-100' };
    await scene.kubernetes.patch('Pod', leaving?.metadata.name ?? '', { metadata: { annotations: cost } });
    await scale(3);
    const [freed] = addressesOf(served);
    expect(await waitForAddress(scene, fourth ?? '', 'lan')).to.equal(freed);
    await waitForEvent(scene, fourth ?? '', 'PodNetworkAllocated', new RegExp(`subnet=lan ip=${freed} `));
    expect(addressesOf((await waitForMembers(3, 0)).served)).to.have.members(pool);
  });

  it('KO-943 a Deployment that is scaled to zero holds no address', async () => {
    await scale(0);
    await waitForMembers(0, 0);
    await eventually(async () => expect(await scene.kubernetes.list('IP')).to.deep.equal([]));
  });
});
