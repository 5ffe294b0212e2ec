/**
 * Tests edge cases: deleted namespaces, very long names, and Pods that were created and deleted
 * without a watcher.
 */
import { expect } from 'chai';
import { ipObjectName } from '../../../lib/kubernetes/ip-object-name.ts';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import { readSystemSnapshot } from '../support/system-snapshot.ts';
import {
  waitForAddress,
  waitForEvent,
  macvlanConfig,
  makeNetwork,
  makeNetworkAndSubnet,
  makePod,
  makeSubnet,
  networksAnnotation,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';
import { readLogLines } from '../support/pod-watcher.ts';

describe('edge cases of Pods', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/16');
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  const holders = async (): Promise<string[]> => {
    const { allocations } = await eventually(() => readSystemSnapshot(scene.stack, scene.run.signal));
    return allocations.map(({ attachment }) => attachment?.pod ?? '');
  };

  it('the Pods of a deleted namespace are released, without a warning in the log', async () => {
    const { cluster, watcher } = scene.stack;
    const names = Array.from({ length: 30 }, (_, index) => `doomed-${index}`);
    const podOf = (name: string, network: string, finalizers: string[] = []): object => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'doomed', annotations: { [networksAnnotation]: network }, finalizers },
      spec: { containers: [{ name: 'box', image: 'box' }] },
    });
    // Keeps the namespace terminating by two Pods with finalizers. One Pod is never served: a
    // terminating namespace rejects its Events.
    const finalizers = ['example.com/wait'];
    const items = [
      ...names.map((name) => podOf(name, 'default/lan', name === 'doomed-0' ? finalizers : [])),
      podOf('waiting', 'default/nowhere', finalizers),
    ];
    await cluster.kubectl(['create', 'namespace', 'doomed']);
    await eventually(() => cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items })));
    await eventually(async () => expect(await holders()).to.include.members(names));
    const before = readLogLines(watcher, 40).length;

    await cluster.kubectl(['delete', 'namespace', 'doomed', '--wait=false']);
    // Pod waiting was never on a node: it is deleted without a grace period, and needs no address.
    await eventually(async () => expect(await holders()).to.deep.equal([]), 60_000);
    for (const name of ['doomed-0', 'waiting'])
      await cluster.kubectl([
        '-n',
        'doomed',
        'patch',
        'pod',
        name,
        '--type=merge',
        '-p',
        '{"metadata":{"finalizers":null}}',
      ]);
    const listPods = async (): Promise<string> => cluster.kubectl(['get', 'pods', '-n', 'doomed', '-o', 'name']);
    await eventually(async () => expect(await listPods()).to.equal(''), 60_000);
    expect(readLogLines(watcher, 40).slice(before)).to.deep.equal([]);
  });

  it('a Pod with names of maximum length gets its addresses and IP objects, and releases them', async () => {
    const pod = `${'p'.repeat(240)}.${'q'.repeat(12)}`;
    const network = 'n'.repeat(200);
    const subnet = `${'s'.repeat(100)}.lan`;
    await makeNetwork(scene, network);
    await makeSubnet(scene, subnet, { cidrBlock: '10.9.0.0/24', provider: `${network}.default` });
    await makePod(scene, pod, `lan,${network}`);
    const address = await waitForAddress(scene, pod, 'lan');
    await waitForAddress(scene, pod, network);
    const attached = { pod, namespace: 'default', provider: 'lan.default', ordinal: 0 };
    const { spec, metadata } = await eventually(() => scene.kubernetes.get('IP', ipObjectName(attached)));
    expect(spec).to.include({ podName: pod, namespace: 'default', ipAddress: address });
    expect(metadata.annotations).to.include({ 'ipledger.io/name': `${pod}.default.lan.default` });
    await expectConsistency(scene.stack);

    await scene.kubernetes.remove('Pod', pod);
    await eventually(async () => expect(await scene.kubernetes.list('IP')).to.deep.equal([]));
  });

  it('a Pod on a network whose name is too long for an annotation gets its address, but no annotations', async () => {
    const network = 'n'.repeat(250);
    await makeNetwork(scene, network, JSON.stringify(macvlanConfig(scene, `${network}.default`)));
    await makeSubnet(scene, 'far', { cidrBlock: '10.10.0.0/24', provider: `${network}.default` });
    await makePod(scene, 'far', `lan,${network}`);
    await waitForAddress(scene, 'far', 'lan');
    await eventually(async () => expect(await holders()).to.deep.equal(['far', 'far']));
    await waitForEvent(scene, 'far', 'AnnotationNotPossible', /Kubernetes accepts no annotation n+/);
    await scene.kubernetes.remove('Pod', 'far');
  });

  it('Pods that were created and deleted while no watcher ran get no allocation, and a later Pod gets one', async () => {
    const { watcher } = scene.stack;
    await makePod(scene, 'known', 'lan');
    await waitForAddress(scene, 'known', 'lan');
    await watcher.stop();
    const before = (await readSystemSnapshot(scene.stack, scene.run.signal)).allocations.length;
    for (let index = 0; index < 10; index++) {
      await makePod(scene, `unseen-${index}`, 'lan');
      await scene.kubernetes.remove('Pod', `unseen-${index}`);
    }
    await watcher.start();
    await makePod(scene, 'after', 'lan');
    await waitForAddress(scene, 'after', 'lan');
    expect(await holders()).to.have.members(['known', 'after']);
    expect(before).to.equal(1);
  });
});
