/**
 * Random kills of all programs: no event is lost, no address has two holders, and afterwards all
 * invariants hold.
 */
import { eventually } from '../e2e/support/eventually.ts';
import { isWatching } from '../e2e/support/pod-watcher.ts';
import type { Server } from '../harness/processes/server.ts';
import { printProgress } from '../harness/progress.ts';
import { killRandomly } from './random-kills.ts';
import { createPod, churnPods, deletePod, type ChurnedPod, waitForAddresses } from './pod-churn.ts';
import { createSeededRandom } from './seeded-random.ts';
import { roundSuffix, testSize } from './test-size.ts';
import { startFaultEnvironment, type FaultEnvironment } from './fault-environment.ts';
import { expectInvariants } from './invariants.ts';

describe('faults: kill -9 of any program', function () {
  this.timeout(testSize.timeoutMs);
  let environment: FaultEnvironment;
  let done: string[];
  beforeEach(async () => {
    environment = await startFaultEnvironment();
    done = [];
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') printProgress(done.join('\n'));
    await environment?.run.end();
  });

  // A restart of the API server loses deletions that no watcher has seen. The guard against mass
  // deletions then releases nothing: see docs/guarantees.md.
  const watchedBeforeApiServer = async (victims: readonly Server[]): Promise<void> => {
    const { stack, watchers } = environment;
    if (!victims.includes(stack.cluster.apiServer)) return;
    await eventually(async () => {
      const watching = await Promise.all(watchers.map(isWatching));
      if (!watching.includes(true)) throw new Error('no pod-watcher is active and ready');
    }, testSize.patienceMs);
  };

  for (let round = 1; round <= testSize.rounds; round++)
    it(`Killing any program keeps all invariants while ${testSize.pods} Pods are created and deleted${roundSuffix(round)}`, async () => {
      const random = createSeededRandom('kill -9', round);
      const startedAt = performance.now();
      const note = (what: string): void =>
        void done.push(`${((performance.now() - startedAt) / 1_000).toFixed(1)} s: ${what}`);
      const lives: ChurnedPod[] = [];
      const progress = (): number => lives.length / testSize.pods;
      await Promise.all([
        churnPods(environment, random.fork(), { count: testSize.pods, paceMs: 1_000 }, lives),
        killRandomly(
          environment.servers,
          random.fork(),
          { kills: testSize.kills, progress, mayKill: watchedBeforeApiServer },
          note,
        ),
      ]);
      note(`${lives.length} Pods created, ${lives.filter(({ fate }) => fate === 'deleted').length} deleted`);
      await expectInvariants(environment, lives);
      note('all invariants hold');
      // A watcher runs before the deletions: watcher-downtime.e2e.spec.ts is about the case without
      // one
      const probe = await createPod(environment, 'watcher-probe', random);
      lives.push(probe);
      await waitForAddresses(environment, probe);
      await Promise.all(
        lives.filter(({ fate }) => fate !== 'deleted').map((life) => deletePod(environment, life, { force: false })),
      );
      note('all other Pods deleted');
      await expectInvariants(environment, lives);
    });
});
