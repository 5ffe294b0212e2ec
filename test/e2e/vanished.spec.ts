/** An API server that forgets Pods does not end them: nothing is released until they are back, or somebody has looked. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { startServer } from '../harness/server.ts';
import { watcherLaunch } from '../harness/services.ts';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import { takePicture } from './picture.ts';
import { addressOf, eventOf, makeNetworkAndSubnet, makePod, openScene, type Scene } from './scene.ts';
import { backUp, logged, loseKeys, readiness, startsSaying } from './watcher.ts';

const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const [old, young] = [names('old-', 4), names('young-', 20)];
const halted = /^not ready: ALARM: 2\d of 2\d Pods that hold addresses are missing/;
/** Longer than the watcher waits for others that may vanish with a Pod. */
const aWhileMs = 3_000;

describe('Pods that vanish from the API', function () {
  this.timeout(120_000);
  let scene: Scene;
  let putBackEarly: () => Promise<void>;
  let putBackLate: () => Promise<void>;
  let held: Map<string, string>;

  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/24');
    await make(old);
    putBackEarly = await backUp(scene.run, scene.stack.cluster, 'early');
    await make(young);
    putBackLate = await backUp(scene.run, scene.stack.cluster, 'late');
    held = await addresses();
  });
  after(() => scene?.run.end());

  async function make(pods: readonly string[]): Promise<void> {
    for (const pod of pods) await makePod(scene, pod, 'lan');
    await Promise.all(pods.map((pod) => addressOf(scene, pod, 'lan')));
  }

  /** What the ledger says that Pods hold, by name. */
  async function addresses(): Promise<Map<string, string>> {
    const { allocations } = await eventually(() => takePicture(scene.stack, scene.run.signal));
    return new Map(
      allocations.map(({ attachment, addresses: given }) => [attachment?.pod ?? '', given[0]?.address ?? '']),
    );
  }

  /** Whether all hold what they held, when that was looked at last. */
  async function nothingIsReleased(): Promise<void> {
    const now = await addresses();
    for (const [pod, address] of held) expect(now.get(pod), pod).to.equal(address);
  }

  const isRemembered = (): Promise<void> =>
    eventually(async () => {
      const path = ['-n', 'kube-system', 'lease', 'ipledger-pod-watcher'];
      const { metadata } = (await scene.stack.cluster.get(path)) as {
        metadata: { annotations: Record<string, string> };
      };
      expect(JSON.parse(metadata.annotations['ipledger.io/memory'] ?? '{}'))
        .to.have.property('pods')
        .that.matches(/^\d+$/);
    });

  it('most at once, while the watcher runs: they keep their addresses, others get theirs, and an alarm says so', async () => {
    const { stack } = scene;
    await loseKeys(
      stack.cluster,
      young.map((pod) => `pods/default/${pod}`),
    );
    await eventually(async () => expect(await readiness(stack.watcher)).to.match(halted));
    await make(['later']);
    await sleep(aWhileMs);
    await nothingIsReleased();
    expect(logged(stack.watcher, 50).filter((line) => line.includes('ALARM'))).to.have.length(1);
    await eventOf(
      scene,
      'ipledger-pod-watcher',
      'PodsVanished',
      /20 of 24 Pods .* restart this watcher once with --accept-vanished/,
    );
  });

  it('and come back with the API server’s data: it goes on by itself, and releases what really is no more', async () => {
    const { watcher } = scene.stack;
    await putBackLate();
    await eventually(async () => expect(await readiness(watcher)).to.equal('ok'));
    await eventually(async () => expect(await addresses()).to.not.have.key('later'));
    await nothingIsReleased();
    await expectAgreement(scene.stack);
  });

  it('since the API server was put back to an earlier state while no watcher ran', async () => {
    const { watcher } = scene.stack;
    await watcher.stop();
    await putBackEarly();
    await startsSaying(watcher, halted);
    await make(['later']);
    await sleep(aWhileMs);
    await nothingIsReleased();
  });

  it('and still after another restart', async () => {
    const { watcher } = scene.stack;
    await watcher.stop();
    await startsSaying(watcher, halted);
    await nothingIsReleased();
  });

  it('and are gone, as somebody says who has looked: all is released', async () => {
    const { watcher, allocator, cluster } = scene.stack;
    await watcher.stop();
    const launch = watcherLaunch({
      name: 'accepting',
      allocator: allocator.endpoint,
      kubeconfig: cluster.kubeconfig,
      healthListen: watcher.health,
    });
    const accepting = await startServer(scene.run, { ...launch, args: [...launch.args, '--accept-vanished'] });
    await eventually(async () => expect([...(await addresses()).keys()]).to.have.members([...old, 'later']));
    await expectAgreement(scene.stack);
    await accepting.stop();
    await watcher.start();
  });

  it('deleted while no watcher ran, however many: they are released without further ado', async () => {
    const { watcher } = scene.stack;
    const deleted = names('deleted-', 30);
    await make(deleted);
    await isRemembered();
    await watcher.kill();
    const alarms = logged(watcher, 50).length;
    for (const pod of deleted) await scene.kubernetes.remove('Pod', pod);
    await watcher.start();
    await eventually(async () => expect([...(await addresses()).keys()]).to.have.members([...old, 'later']));
    expect(logged(watcher, 50)).to.have.length(alarms);
    await expectAgreement(scene.stack);
  });

  it('lost while no watcher ran, without being deleted: they keep their addresses', async () => {
    const { watcher, cluster } = scene.stack;
    const lost = names('lost-', 30);
    await make(lost);
    await isRemembered();
    held = await addresses();
    await watcher.stop();
    await loseKeys(
      cluster,
      lost.map((pod) => `pods/default/${pod}`),
    );
    await startsSaying(watcher, /^not ready: ALARM: 30 of 35 Pods/);
    await sleep(aWhileMs);
    await nothingIsReleased();
  });
});
