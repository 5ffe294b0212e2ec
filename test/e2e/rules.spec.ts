/** Namespaces that are being deleted, names longer than Kubernetes takes, Pods that nobody ever saw. */
import { expect } from 'chai';
import { ipName } from '../../lib/ip-name.ts';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import { takePicture } from './picture.ts';
import {
  addressOf,
  macvlanConfig,
  makeNetwork,
  makeNetworkAndSubnet,
  makePod,
  makeSubnet,
  networksAnnotation,
  openScene,
  type Scene,
} from './scene.ts';
import { logged } from './watcher.ts';

describe('Rules of odd cases', function () {
  this.timeout(120_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/16');
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  const holders = async (): Promise<string[]> => {
    const { allocations } = await eventually(() => takePicture(scene.stack, scene.run.signal));
    return allocations.map(({ attachment }) => attachment?.pod ?? '');
  };

  it('a namespace that is deleted with all its Pods: they are released, and nothing is complained about', async () => {
    const { cluster, watcher } = scene.stack;
    const names = Array.from({ length: 30 }, (_, index) => `doomed-${index}`);
    const podOf = (name: string, network: string, finalizers: string[] = []): object => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'doomed', annotations: { [networksAnnotation]: network }, finalizers },
      spec: { containers: [{ name: 'box', image: 'box' }] },
    });
    // Two keep the namespace terminating until they may go. One of them can never be served, and says so in Events, which
    // such a namespace does not take.
    const finalizers = ['example.com/wait'];
    const items = [
      ...names.map((name) => podOf(name, 'default/lan', name === 'doomed-0' ? finalizers : [])),
      podOf('waiting', 'default/nowhere', finalizers),
    ];
    await cluster.kubectl(['create', 'namespace', 'doomed']);
    await eventually(() => cluster.apply(JSON.stringify({ apiVersion: 'v1', kind: 'List', items })));
    await eventually(async () => expect(await holders()).to.include.members(names));
    const before = logged(watcher, 40).length;

    await cluster.kubectl(['delete', 'namespace', 'doomed', '--wait=false']);
    // The one that waits was never on a node: its deletion has no grace period, and it needs its address no more.
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
    const left = async (): Promise<string> => cluster.kubectl(['get', 'pods', '-n', 'doomed', '-o', 'name']);
    await eventually(async () => expect(await left()).to.equal(''), 60_000);
    expect(logged(watcher, 40).slice(before)).to.deep.equal([]);
  });

  it('names as long as Kubernetes takes them: each has its address, its IP object, and goes again', async () => {
    const pod = `${'p'.repeat(240)}.${'q'.repeat(12)}`;
    const network = 'n'.repeat(200);
    const subnet = `${'s'.repeat(100)}.lan`;
    await makeNetwork(scene, network);
    await makeSubnet(scene, subnet, { cidrBlock: '10.9.0.0/24', provider: `${network}.default` });
    await makePod(scene, pod, `lan,${network}`);
    const address = await addressOf(scene, pod, 'lan');
    await addressOf(scene, pod, network);
    const attached = { pod, namespace: 'default', provider: 'lan.default', ordinal: 0 };
    const { spec, metadata } = await eventually(() => scene.kubernetes.get('IP', ipName(attached)));
    expect(spec).to.include({ podName: pod, namespace: 'default', ipAddress: address });
    expect(metadata.annotations).to.include({ 'ipledger.io/name': `${pod}.default.lan.default` });
    await expectAgreement(scene.stack);

    await scene.kubernetes.remove('Pod', pod);
    await eventually(async () => expect(await scene.kubernetes.list('IP')).to.deep.equal([]));
  });

  it('a network whose name no annotation can have: the Pod gets its address, and goes without the annotations', async () => {
    const network = 'n'.repeat(250);
    await makeNetwork(scene, network, JSON.stringify(macvlanConfig(scene, `${network}.default`)));
    await makeSubnet(scene, 'far', { cidrBlock: '10.10.0.0/24', provider: `${network}.default` });
    await makePod(scene, 'far', `lan,${network}`);
    await addressOf(scene, 'far', 'lan');
    await eventually(async () => expect(await holders()).to.deep.equal(['far', 'far']));
    const told = logged(scene.stack.watcher, 40).filter((line) =>
      line.includes('no annotation can have so long a name'),
    );
    expect(told).to.have.length(1);
    await scene.kubernetes.remove('Pod', 'far');
  });

  it('Pods that were made and deleted while no watcher ran, and one that was given something in the meantime', async () => {
    const { watcher } = scene.stack;
    await makePod(scene, 'known', 'lan');
    await addressOf(scene, 'known', 'lan');
    await watcher.stop();
    const before = (await takePicture(scene.stack, scene.run.signal)).allocations.length;
    for (let index = 0; index < 10; index++) {
      await makePod(scene, `unseen-${index}`, 'lan');
      await scene.kubernetes.remove('Pod', `unseen-${index}`);
    }
    await watcher.start();
    await makePod(scene, 'after', 'lan');
    await addressOf(scene, 'after', 'lan');
    expect(await holders()).to.have.members(['known', 'after']);
    expect(before).to.equal(1);
  });
});
