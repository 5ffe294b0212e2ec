/**
 * Tests an API server that lost Pods: nothing is released until the Pods are back, or an operator
 * accepts the deletion.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { runIpledger } from '../../harness/ipledger-cli.ts';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import { readSystemSnapshot } from '../support/system-snapshot.ts';
import {
  waitForAddress,
  waitForEvent,
  makeNetworkAndSubnet,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';
import {
  backUpApiServer,
  readLogLines,
  deleteApiServerKeys,
  readReadiness,
  startUntilReadiness,
} from '../support/pod-watcher.ts';

const names = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const [old, young] = [names('old-', 4), names('young-', 20)];
const halted = /^not ready: ALARM: 2\d of 2\d Pods that hold addresses are missing/;
/** Exceeds the time for which the watcher waits before it releases a missing Pod. */
const settleMs = 3_000;

describe('Pods that are missing from the API', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let restoreEarly: () => Promise<void>;
  let restoreLate: () => Promise<void>;
  let held: Map<string, string>;

  before(async () => {
    scene = await openTestEnvironment({ ownCluster: true });
    await makeNetworkAndSubnet(scene, 'lan', '10.8.0.0/24');
    await makePods(old);
    restoreEarly = await backUpApiServer(scene.run, scene.stack.cluster, 'early');
    await makePods(young);
    restoreLate = await backUpApiServer(scene.run, scene.stack.cluster, 'late');
    held = await readAddresses();
  });
  after(() => scene?.run.end());

  async function makePods(pods: readonly string[]): Promise<void> {
    for (const pod of pods) await makePod(scene, pod, 'lan');
    await Promise.all(pods.map((pod) => waitForAddress(scene, pod, 'lan')));
  }

  /** Reads the addresses of Pods in the ledger, by name. */
  async function readAddresses(): Promise<Map<string, string>> {
    const { allocations } = await eventually(() => readSystemSnapshot(scene.stack, scene.run.signal));
    return new Map(
      allocations.map(({ attachment, addresses: allocated }) => [attachment?.pod ?? '', allocated[0]?.address ?? '']),
    );
  }

  /** Expects that all Pods hold the addresses that `held` lists. */
  async function expectNothingReleased(): Promise<void> {
    const now = await readAddresses();
    for (const [pod, address] of held) expect(now.get(pod), pod).to.equal(address);
  }

  const waitForHandoverState = (): Promise<void> =>
    eventually(async () => {
      const path = ['-n', 'kube-system', 'lease', 'ipledger-pod-watcher'];
      const { metadata } = (await scene.stack.cluster.get(path)) as {
        metadata: { annotations: Record<string, string> };
      };
      expect(JSON.parse(metadata.annotations['ipledger.io/memory'] ?? '{}'))
        .to.have.property('pods')
        .that.matches(/^\d+$/);
    });

  it('Pods keep their addresses when most disappear while the watcher runs; an alarm reports it, and new Pods get addresses', async () => {
    const { stack } = scene;
    await deleteApiServerKeys(
      stack.cluster,
      young.map((pod) => `pods/default/${pod}`),
    );
    await eventually(async () => expect(await readReadiness(stack.watcher)).to.match(halted));
    await makePods(['later']);
    await sleep(settleMs);
    await expectNothingReleased();
    expect(readLogLines(stack.watcher, 50).filter((line) => line.includes('ALARM'))).to.have.length(1);
    await waitForEvent(
      scene,
      'ipledger-pod-watcher',
      'MassPodDeletion',
      /20 of 24 Pods .* run: ipledger accept-mass-deletion --namespace kube-system --reason TEXT/,
    );
  });

  it('the alarm ends when the API server is restored, and the watcher releases Pods that are really deleted', async () => {
    const { watcher } = scene.stack;
    await restoreLate();
    await eventually(async () => expect(await readReadiness(watcher)).to.equal('ok'));
    await eventually(async () => expect(await readAddresses()).to.not.have.key('later'));
    await expectNothingReleased();
    await expectConsistency(scene.stack);
  });

  it('Pods keep their addresses when the API server was restored from a backup while no watcher ran', async () => {
    const { watcher } = scene.stack;
    await watcher.stop();
    await restoreEarly();
    await startUntilReadiness(watcher, halted);
    await makePods(['later']);
    await sleep(settleMs);
    await expectNothingReleased();
  });

  it('Pods keep their addresses after another restart of the watcher', async () => {
    const { watcher } = scene.stack;
    await watcher.stop();
    await startUntilReadiness(watcher, halted);
    await expectNothingReleased();
  });

  it('the addresses of missing Pods are released when an operator accepts the mass deletion', async () => {
    const { watcher, cluster } = scene.stack;
    const args = ['accept-mass-deletion', '--reason', 'the backup is right', '--yes'];
    const { code, stdout } = await runIpledger(args, { kubeconfig: cluster.kubeconfig });
    expect(code).to.equal(0);
    expect(stdout).to.match(/^Pods of all namespaces +2\d$/m);
    await eventually(async () => expect([...(await readAddresses()).keys()]).to.have.members([...old, 'later']));
    await eventually(async () => expect(await readReadiness(watcher)).to.equal('ok'));
    await expectConsistency(scene.stack);
  });

  it('the addresses of Pods that were deleted while no watcher ran are released, in any number', async () => {
    const { watcher } = scene.stack;
    const deleted = names('deleted-', 30);
    await makePods(deleted);
    await waitForHandoverState();
    await watcher.kill();
    const alarms = readLogLines(watcher, 50).length;
    for (const pod of deleted) await scene.kubernetes.remove('Pod', pod);
    await watcher.start();
    await eventually(async () => expect([...(await readAddresses()).keys()]).to.have.members([...old, 'later']));
    expect(readLogLines(watcher, 50)).to.have.length(alarms);
    await expectConsistency(scene.stack);
  });

  it('Pods keep their addresses if they were lost, and not deleted, while no watcher ran', async () => {
    const { watcher, cluster } = scene.stack;
    const lost = names('lost-', 30);
    await makePods(lost);
    await waitForHandoverState();
    held = await readAddresses();
    await watcher.stop();
    await deleteApiServerKeys(
      cluster,
      lost.map((pod) => `pods/default/${pod}`),
    );
    await startUntilReadiness(watcher, /^not ready: ALARM: 30 of 35 Pods/);
    await sleep(settleMs);
    await expectNothingReleased();
  });
});
