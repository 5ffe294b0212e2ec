/** A Deployment whose Pods share a list of addresses, under Kubernetes' own controllers. */
import { expect } from 'chai';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import type { KubeObject } from './kubernetes.ts';
import { addressOf, eventOf, makeNetworkAndSubnet, networksAnnotation, openScene, type Scene } from './scene.ts';

const key = 'lan.default.kubernetes.io';
const pool = ['10.7.0.200', '10.7.0.201', '10.7.0.202'];

describe('first light: a Deployment with ip_pool', function () {
  this.timeout(120_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'lan', '10.7.0.0/24');
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  const scale = (replicas: number): Promise<KubeObject> =>
    scene.kubernetes.patch('Deployment', 'web', { spec: { replicas } });

  /** Who has an address, and who has none; waits until there are so many of both. */
  const members = (served: number, waiting: number): Promise<{ served: KubeObject[]; waiting: KubeObject[] }> =>
    eventually(async () => {
      const pods = await scene.kubernetes.list('Pod', 'labelSelector=app=web');
      const has = (pod: KubeObject): boolean => pod.metadata.annotations?.[`${key}/allocated`] === 'true';
      const now = { served: pods.filter(has), waiting: pods.filter((pod) => !has(pod)) };
      expect([now.served.length, now.waiting.length]).to.deep.equal([served, waiting]);
      return now;
    });

  const addressesOf = (pods: readonly KubeObject[]): (string | undefined)[] =>
    pods.map(({ metadata }) => metadata.annotations?.[`${key}/ip_address`]);

  it('two Pods have two of its three addresses', async () => {
    const labels = { app: 'web' };
    const annotations = { [networksAnnotation]: 'default/lan', [`${key}/ip_pool`]: pool.join(',') };
    const template = { metadata: { labels, annotations }, spec: { containers: [{ name: 'box', image: 'box' }] } };
    await scene.kubernetes.create({
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    });
    const { served } = await members(2, 0);
    expect(addressesOf(served)).to.have.members(pool.slice(0, 2));
  });

  it('a third gets the third', async () => {
    await scale(3);
    expect(addressesOf((await members(3, 0)).served)).to.have.members(pool);
  });

  it('a fourth waits, is told that none is free and who has them, and gets the one that is freed', async () => {
    await scale(4);
    const { served, waiting } = await members(3, 1);
    const [fourth] = waiting.map(({ metadata }) => metadata.name);
    const holders = served.map(({ metadata }) => `default/${metadata.name}`);
    const said = await eventOf(
      scene,
      fourth ?? '',
      'AcquireAddressFailed',
      /AddressConflict: none of the addresses asked for can be given: .*; the Pod waits/,
    );
    for (const part of [...holders, ...pool]) expect(said).to.contain(part);

    const [leaving] = served;
    const cost = { 'controller.kubernetes.io/pod-deletion-cost': '-100' };
    await scene.kubernetes.patch('Pod', leaving?.metadata.name ?? '', { metadata: { annotations: cost } });
    await scale(3);
    const [freed] = addressesOf(served);
    expect(await addressOf(scene, fourth ?? '', 'lan')).to.equal(freed);
    await eventOf(scene, fourth ?? '', 'PodNetworkAllocated', new RegExp(`subnet=lan ip=${freed} `));
    expect(addressesOf((await members(3, 0)).served)).to.have.members(pool);
  });

  it('KO-943 scaled to nothing, it holds nothing', async () => {
    await scale(0);
    await members(0, 0);
    await eventually(async () => expect(await scene.kubernetes.list('IP')).to.deep.equal([]));
  });
});
