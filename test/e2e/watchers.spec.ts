/** Two pod-watchers, of which one works by a Kubernetes Lease: when it is lost the other one goes on where it was. */
import { expect } from 'chai';
import { say } from '../harness/say.ts';
import { startWatcher, type Watcher } from '../harness/services.ts';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import { addressOf, makeNetworkAndSubnet, makePod, openScene, type Scene } from './scene.ts';

describe('Two pod-watchers', function () {
  this.timeout(120_000);
  let scene: Scene;
  let first: Watcher;
  let second: Watcher;
  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/24');
    const { allocator, cluster, watcher } = scene.stack;
    first = watcher;
    second = await startWatcher(scene.run, { allocator, cluster, name: 'pod-watcher-2' });
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  /** Who holds the Lease, and how often it passed from one to another. */
  async function lease(): Promise<{ holder: string; transitions: number }> {
    const [found] = await scene.kubernetes.list('Lease', 'fieldSelector=metadata.name=ipledger-pod-watcher');
    const { holderIdentity = '', leaseTransitions = 0 } = (found?.spec ?? {}) as {
      holderIdentity?: string;
      leaseTransitions?: number;
    };
    return { holder: holderIdentity, transitions: leaseTransitions };
  }
  const ips = async (): Promise<string[]> => (await scene.kubernetes.list('IP')).map(({ metadata }) => metadata.name);

  it('are one that works and one that stands by: a Pod is served once', async () => {
    await makePod(scene, 'before', 'lan');
    await addressOf(scene, 'before', 'lan');
    expect(await lease()).to.have.property('transitions', 0);
    expect(await ips()).to.deep.equal(['before.default.lan.default']);
  });

  it('serve a Pod that came while the one at work was killed, and give back what went', async () => {
    const kept = await lease();
    await makePod(scene, 'stays', 'lan');
    const address = await addressOf(scene, 'stays', 'lan');
    const killedAt = performance.now();
    await first.kill();
    await makePod(scene, 'between', 'lan');
    await scene.kubernetes.remove('Pod', 'before');
    await addressOf(scene, 'between', 'lan');
    say(`watcher killed: a Pod made then had its address after ${Math.round(performance.now() - killedAt)} ms`);
    await eventually(async () =>
      expect(await ips()).to.have.members(['stays', 'between'].map((pod) => `${pod}.default.lan.default`)),
    );
    expect(await addressOf(scene, 'stays', 'lan')).to.equal(address);
    const taken = await lease();
    expect(taken.transitions).to.equal(kept.transitions + 1);
    expect(taken.holder).to.not.equal(kept.holder);
  });

  it('have the killed one stand by when it is back, and work when the other is told to stop, which hands over', async () => {
    const kept = await lease();
    await first.start();
    expect(await lease(), 'whoever works goes on').to.deep.equal(kept);
    const stoppedAt = performance.now();
    await second.stop();
    await makePod(scene, 'after', 'lan');
    await addressOf(scene, 'after', 'lan');
    say(`watcher told to stop: a Pod made then had its address after ${Math.round(performance.now() - stoppedAt)} ms`);
    const taken = await lease();
    expect(taken.holder).to.not.be.oneOf([kept.holder, '']);
    await second.start();
    expect((await lease()).holder).to.equal(taken.holder);
  });

  it('have the one that was suspended past its Lease step down when it goes on: the Pods are the other’s', async () => {
    const kept = await lease();
    first.freeze();
    await makePod(scene, 'suspended', 'lan');
    await addressOf(scene, 'suspended', 'lan');
    const taken = await lease();
    expect(taken.holder).to.not.equal(kept.holder);
    first.thaw();
    await scene.kubernetes.remove('Pod', 'suspended');
    await makePod(scene, 'later', 'lan');
    await addressOf(scene, 'later', 'lan');
    expect((await lease()).holder).to.equal(taken.holder);
  });
});
