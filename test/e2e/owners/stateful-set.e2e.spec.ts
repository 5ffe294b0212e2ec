/**
 * Tests StatefulSets with Kubernetes' own controllers: a member keeps its address until the
 * StatefulSet has no such member.
 */
import { expect } from 'chai';
import { expectConsistency } from '../support/consistency.ts';
import { readLastEvent } from '../support/attachments.ts';
import { eventually } from '../support/eventually.ts';
import { type FakeKubelets, startFakeKubelets } from '../support/fake-kubelets.ts';
import type { KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import {
  makeNetworkAndSubnet,
  makeSubnet,
  networksAnnotation,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

const timeoutMs = 60_000;

describe('a StatefulSet', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let kubelets: FakeKubelets;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.10.0.0/24');
    await makeSubnet(scene, 'move', { cidrBlock: '10.11.0.0/24', provider: 'lan.default' });
    await makeNetworkAndSubnet(scene, 'narrow', '10.12.0.0/29');
    kubelets = startFakeKubelets(scene, ['node-1']);
  });
  after(async () => {
    await kubelets?.stop();
    await scene?.run.end();
  });
  afterEach(() => expectConsistency(scene.stack));

  const templateOf = (name: string, network: string, annotations: Record<string, string> = {}): object => ({
    metadata: { labels: { app: name }, annotations: { [networksAnnotation]: network, ...annotations } },
    spec: { containers: [{ name: 'box', image: 'box' }] },
  });

  const make = (name: string, network: string, spec: object): Promise<KubeObject> =>
    scene.kubernetes.create({
      kind: 'StatefulSet',
      metadata: { name },
      spec: {
        podManagementPolicy: 'Parallel',
        serviceName: name,
        selector: { matchLabels: { app: name } },
        template: templateOf(name, network),
        ...spec,
      },
    });

  const scale = (name: string, replicas: number): Promise<KubeObject> =>
    scene.kubernetes.patch('StatefulSet', name, { spec: { replicas } });

  /**
   * Waits until exactly these members are Running, with none of the uids in `before`. Returns their
   * addresses by name.
   */
  const waitForMembers = (name: string, network: string, ordinals: readonly number[], before: readonly string[] = []) =>
    eventually(async () => {
      const pods = await scene.kubernetes.list('Pod', `labelSelector=app=${name}`);
      expect(pods.map(({ metadata }) => metadata.name)).to.have.members(ordinals.map((each) => `${name}-${each}`));
      expect(pods.every(({ status }) => status?.['phase'] === 'Running')).to.equal(true);
      expect(pods.filter(({ metadata }) => before.includes(metadata.uid))).to.deep.equal([]);
      const shown = pods.map(({ metadata }): [string, string] => [
        metadata.name,
        metadata.annotations?.[`${network}.default.kubernetes.io/ip_address`] ?? '',
      ]);
      return { addresses: Object.fromEntries(shown), uids: pods.map(({ metadata }) => metadata.uid) };
    }, timeoutMs);

  const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
  const readRelease = async (subnet: string, address: string) =>
    (await readLastEvent(scene, subnet, address))?.addressReleased;

  it('a StatefulSet that is scaled from 20 to 5 keeps five addresses, and releases 15 for that cause', async () => {
    await make('web', 'lan', { replicas: 20 });
    const { addresses: before } = await waitForMembers('web', 'lan', upTo(20));
    expect(new Set(Object.values(before)).size).to.equal(20);
    await expectConsistency(scene.stack);

    await scale('web', 5);
    const { addresses: after } = await waitForMembers('web', 'lan', upTo(5));
    for (const [name, address] of Object.entries(after)) expect(address, name).to.equal(before[name]);
    await eventually(async () => {
      const released = await readRelease('lan', before['web-19'] ?? '');
      expect(released?.cause).to.equal('RELEASE_CAUSE_SCALED_DOWN');
      expect(released?.evidence).to.contain('has 5 replicas, and so no member 19');
    });
  });

  it('a StatefulSet that is scaled to 20 again holds 20 addresses, including the five that it kept', async () => {
    const { addresses: before } = await waitForMembers('web', 'lan', upTo(5));
    await scale('web', 20);
    const { addresses: after } = await waitForMembers('web', 'lan', upTo(20));
    for (const [name, address] of Object.entries(before)) expect(after[name], name).to.equal(address);
    expect(new Set(Object.values(after)).size).to.equal(20);
  });

  it('a StatefulSet keeps its addresses when all members are deleted and created again', async () => {
    const { addresses: before, uids } = await waitForMembers('web', 'lan', upTo(20));
    for (const ordinal of upTo(20)) await scene.kubernetes.remove('Pod', `web-${ordinal}`);
    const { addresses: after } = await waitForMembers('web', 'lan', upTo(20), uids);
    expect(after).to.deep.equal(before);
  });

  it('WB-182 a StatefulSet keeps the address of each member also when the subnet is full', async () => {
    await make('db', 'narrow', { replicas: 5 });
    const { addresses: before, uids } = await waitForMembers('db', 'narrow', upTo(5));
    for (const ordinal of upTo(5)) await scene.kubernetes.remove('Pod', `db-${ordinal}`);
    const { addresses: after } = await waitForMembers('db', 'narrow', upTo(5), uids);
    expect(after).to.deep.equal(before);
    await scale('db', 0);
    await waitForMembers('db', 'narrow', []);
  });

  it('a StatefulSet keeps the address of a member that is deleted while no watcher runs, and created again later', async () => {
    const { addresses: before, uids } = await waitForMembers('web', 'lan', upTo(20));
    await scene.stack.watcher.stop();
    await kubelets.stop();
    await scene.kubernetes.remove('Pod', 'web-3');
    await scene.stack.watcher.start();
    kubelets = startFakeKubelets(scene, ['node-1']);
    await eventually(async () => {
      const { metadata } = await scene.kubernetes.get('Pod', 'web-3');
      expect(uids).to.not.include(metadata.uid);
    });
    expect((await waitForMembers('web', 'lan', upTo(20))).addresses).to.deep.equal(before);
  });

  it('a StatefulSet counts its members from ordinals.start', async () => {
    await make('late', 'lan', { replicas: 3, ordinals: { start: 4 } });
    const { addresses: before, uids } = await waitForMembers('late', 'lan', [4, 5, 6]);
    for (const ordinal of [4, 5, 6]) await scene.kubernetes.remove('Pod', `late-${ordinal}`);
    expect((await waitForMembers('late', 'lan', [4, 5, 6], uids)).addresses).to.deep.equal(before);
    await scale('late', 2);
    await waitForMembers('late', 'lan', [4, 5]);
    await eventually(async () => {
      expect((await readRelease('lan', before['late-6'] ?? ''))?.cause).to.equal('RELEASE_CAUSE_SCALED_DOWN');
    });
  });

  it('a StatefulSet moves its members to the Subnet that a changed template names', async () => {
    const { addresses: before, uids } = await waitForMembers('late', 'lan', [4, 5]);
    const template = templateOf('late', 'lan', { 'lan.default.kubernetes.io/logical_switch': 'move' });
    await scene.kubernetes.patch('StatefulSet', 'late', { spec: { template } });
    const { addresses: after } = await waitForMembers('late', 'lan', [4, 5], uids);
    for (const address of Object.values(after)) expect(address).to.match(/^10\.11\.0\./);
    const released = await readRelease('lan', before['late-4'] ?? '');
    expect(released?.evidence).to.match(/^the name belongs to Pod uid .* now, which requests other addresses$/);
  });

  it('a StatefulSet releases the addresses of its members when it is deleted, with that cause', async () => {
    const { addresses } = await waitForMembers('web', 'lan', upTo(20));
    await scene.kubernetes.remove('StatefulSet', 'web');
    await eventually(async () => {
      for (const address of Object.values(addresses))
        expect((await readRelease('lan', address))?.cause).to.equal('RELEASE_CAUSE_OWNER_DELETED');
    }, timeoutMs);
  });
});
