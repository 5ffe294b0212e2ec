/** Tests two pod-watchers: one is active by a Lease, and the other takes over. */
import { expect } from 'chai';
import { printProgress } from '../../harness/progress.ts';
import { startTcpProxy } from '../../harness/network/tcp-proxy.ts';
import { startWatcher, type WatcherServer } from '../../harness/services.ts';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import {
  waitForAddress,
  makeNetworkAndSubnet,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

describe('Two pod-watchers', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let first: WatcherServer;
  let second: WatcherServer;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/24');
    const { allocator, cluster, watcher } = scene.stack;
    first = watcher;
    second = await startWatcher(scene.run, { allocator, cluster, name: 'pod-watcher-2' });
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  /** Reads the holder of the Lease, and the number of transitions. */
  async function readLease(): Promise<{ holder: string; transitions: number }> {
    const [found] = await scene.kubernetes.list('Lease', 'fieldSelector=metadata.name=ipledger-pod-watcher');
    const { holderIdentity = '', leaseTransitions = 0 } = (found?.spec ?? {}) as {
      holderIdentity?: string;
      leaseTransitions?: number;
    };
    return { holder: holderIdentity, transitions: leaseTransitions };
  }
  const ips = async (): Promise<string[]> => (await scene.kubernetes.list('IP')).map(({ metadata }) => metadata.name);

  it('Two pod-watchers are one active and one standby, and serve a Pod once', async () => {
    await makePod(scene, 'before', 'lan');
    await waitForAddress(scene, 'before', 'lan');
    expect(await readLease()).to.have.property('transitions', 0);
    // Waits, because the watcher writes the IP object after the Pod's annotations.
    await eventually(async () => expect(await ips()).to.deep.equal(['before.default.lan.default']));
  });

  it('SP-1515 Two pod-watchers serve a Pod that is created while the active one is killed, and release the address of a deleted Pod', async () => {
    const before = await readLease();
    await makePod(scene, 'stays', 'lan');
    const address = await waitForAddress(scene, 'stays', 'lan');
    const killedAt = performance.now();
    await first.kill();
    await makePod(scene, 'between', 'lan');
    await scene.kubernetes.remove('Pod', 'before');
    await waitForAddress(scene, 'between', 'lan');
    printProgress(`watcher killed: a new Pod had its address after ${Math.round(performance.now() - killedAt)} ms`);
    await eventually(async () =>
      expect(await ips()).to.have.members(['stays', 'between'].map((pod) => `${pod}.default.lan.default`)),
    );
    expect(await waitForAddress(scene, 'stays', 'lan')).to.equal(address);
    const current = await readLease();
    expect(current.transitions).to.equal(before.transitions + 1);
    expect(current.holder).to.not.equal(before.holder);
  });

  it('The active pod-watcher stays active when the killed one starts again, and hands over when it is stopped', async () => {
    const before = await readLease();
    await first.start();
    expect(await readLease(), 'the active watcher stays active').to.deep.equal(before);
    const stoppedAt = performance.now();
    await second.stop();
    await makePod(scene, 'after', 'lan');
    await waitForAddress(scene, 'after', 'lan');
    printProgress(`watcher stopped: a new Pod had its address after ${Math.round(performance.now() - stoppedAt)} ms`);
    const current = await readLease();
    expect(current.holder).to.not.be.oneOf([before.holder, '']);
    await second.start();
    expect((await readLease()).holder).to.equal(current.holder);
  });

  it('A suspended pod-watcher steps down after its Lease has expired, and the other serves the Pods', async () => {
    const before = await readLease();
    first.freeze();
    await makePod(scene, 'suspended', 'lan');
    await waitForAddress(scene, 'suspended', 'lan');
    const current = await readLease();
    expect(current.holder).to.not.equal(before.holder);
    first.resume();
    await scene.kubernetes.remove('Pod', 'suspended');
    await makePod(scene, 'later', 'lan');
    await waitForAddress(scene, 'later', 'lan');
    expect((await readLease()).holder).to.equal(current.holder);
  });

  it('An active pod-watcher hands over when no allocator answers it, and takes the Lease back only after an answer', async () => {
    const { allocator, cluster } = scene.stack;
    const proxy = await startTcpProxy(scene.run, allocator.endpoint);
    const isolated = await startWatcher(scene.run, {
      allocator: { ...allocator, endpoint: proxy.endpoint },
      cluster,
      name: 'pod-watcher-isolated',
      allocatorTimeoutSeconds: 2,
    });
    await Promise.all([first.stop(), second.stop()]);
    await makePod(scene, 'reached', 'lan');
    await waitForAddress(scene, 'reached', 'lan');
    const before = await readLease();
    proxy.dropBytes();
    await first.start();
    await makePod(scene, 'isolated', 'lan');
    await waitForAddress(scene, 'isolated', 'lan');
    const current = await readLease();
    expect(current.holder).to.not.equal(before.holder);
    await first.stop();
    expect((await readLease()).holder, 'the isolated one waits for an allocator').to.not.equal(before.holder);
    proxy.restore();
    await makePod(scene, 'restored', 'lan');
    await waitForAddress(scene, 'restored', 'lan');
    expect((await readLease()).holder).to.equal(before.holder);
    await isolated.stop();
    await Promise.all([first.start(), second.start()]);
  });

  it('A pod-watcher has stored the start position for deletions when the first Pod of a cluster gets its address', async () => {
    await Promise.all([first.stop(), second.stop()]);
    await scene.stack.cluster.kubectl(['delete', 'lease', '-n', 'kube-system', 'ipledger-pod-watcher']);
    await makePod(scene, 'earliest', 'lan');
    await first.start();
    await waitForAddress(scene, 'earliest', 'lan');
    const [lease] = await scene.kubernetes.list('Lease', 'fieldSelector=metadata.name=ipledger-pod-watcher');
    const state: unknown = JSON.parse(lease?.metadata.annotations?.['ipledger.io/memory'] ?? '{}');
    expect(state).to.have.property('pods').that.matches(/^\d+$/);
  });
});
