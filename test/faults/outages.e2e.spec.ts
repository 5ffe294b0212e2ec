/**
 * Outages of one program: its dependents wait, the rest continues, and afterwards all invariants
 * hold.
 */
import { expect } from 'chai';
import type { Server } from '../harness/processes/server.ts';
import { type OutageKind, withOutageFor, withOutageDuring } from './outage.ts';
import {
  setUpSandboxes,
  createPod,
  tearDownSandboxes,
  deletePod,
  type ChurnedPod,
  waitForAddresses,
} from './pod-churn.ts';
import { type SeededRandom, createSeededRandom } from './seeded-random.ts';
import { runPlugin, setUpSandbox, tearDownSandbox } from './simulated-kubelet.ts';
import { roundSuffix, testSize } from './test-size.ts';
import { startFaultEnvironment, type FaultEnvironment } from './fault-environment.ts';
import { expectInvariants } from './invariants.ts';

describe('faults: an outage', function () {
  this.timeout(testSize.timeoutMs);
  let environment: FaultEnvironment;
  let random: SeededRandom;
  let lives: ChurnedPod[];
  before(async () => {
    random = createSeededRandom('away');
    environment = await startFaultEnvironment();
    lives = [];
  });
  after(() => environment?.run.end());

  /** Creates a Pod, and waits for its addresses; with `running` also for its sandboxes. */
  async function createSettledPod(name: string, { running }: { running: boolean }): Promise<ChurnedPod> {
    const life = await createPod(environment, name, random);
    lives.push(life);
    await waitForAddresses(environment, life);
    if (running) await setUpSandboxes(environment, life);
    return life;
  }

  const parts: [string, (environment: FaultEnvironment) => readonly Server[]][] = [
    ['the allocators', ({ allocators }) => allocators],
    ['etcd', ({ stack }) => [stack.etcd]],
    ['the Kubernetes API', ({ stack }) => [stack.cluster.apiServer]],
    ['the pod-watchers', ({ watchers }) => watchers],
    ['the agent', ({ stack }) => stack.agents],
  ];
  const outageKinds: readonly OutageKind[] = ['killed', 'frozen'];
  for (const [what, serversOf] of parts)
    for (let round = 1; round <= testSize.rounds; round++)
      it(`an outage of ${what}: Pods are created and deleted during it, or as soon as possible after it${roundSuffix(round)}`, async () => {
        const names = (kind: string): string => `${what.replaceAll(' ', '-').toLowerCase()}-${round}-${kind}`;
        const [goes, forced, starts] = await Promise.all([
          createSettledPod(names('goes'), { running: true }),
          createSettledPod(names('forced'), { running: true }),
          createSettledPod(names('starts'), { running: false }),
          createSettledPod(names('stays'), { running: true }),
        ]);
        await withOutageFor(
          serversOf(environment),
          { kind: random.pick(outageKinds), ms: testSize.awayMs },
          async () => {
            const comes = createPod(environment, names('comes'), random).then(async (life) => {
              lives.push(life);
              await setUpSandboxes(environment, life);
            });
            await Promise.all([
              comes,
              setUpSandboxes(environment, starts),
              deletePod(environment, goes, { force: false }),
              deletePod(environment, forced, { force: true }),
            ]);
          },
        );
        await expectInvariants(environment, lives);
      });

  it('an outage of the pod-watchers for 20 s: a waiting ADD times out, and the next ADD, for a new sandbox, succeeds', async () => {
    let late: ChurnedPod | undefined;
    await withOutageDuring(environment.watchers, 'frozen', async () => {
      late = await createPod(environment, 'late', random);
      const { name: pod, uid, networks } = late;
      const first = { pod, uid, network: networks[0] as string, containerId: 'first-sandbox' };
      const answer = await runPlugin(environment, first);
      expect(answer.result).to.include({ code: 11, msg: 'RPC failed' });
      expect(answer.stdout).to.match(/no address allocated to pod default\/late .*Check that pod-watcher runs/);
      await tearDownSandbox(environment, first);
    });
    lives.push(late as ChurnedPod);
    await setUpSandboxes(environment, late as ChurnedPod);
    await expectInvariants(environment, lives);
  });

  it('an outage of the Kubernetes API: ADD succeeds for a Pod with addresses, because CNI_ARGS has its uid', async () => {
    const life = await createSettledPod('without-api', { running: false });
    await withOutageDuring([environment.stack.cluster.apiServer], 'killed', async () => {
      for (const network of life.networks) life.sandboxes.push(await setUpSandbox(environment, life, network));
      await tearDownSandboxes(environment, life);
      await setUpSandboxes(environment, life);
    });
    await expectInvariants(environment, lives);
  });
});
