/** A test suite on real nodes, with setup and a consistency check after each test. */
import { probeNodeSupport } from '../harness/node/node-support.ts';
import { openRun, type Run } from '../harness/run.ts';
import { expectConsistency } from '../e2e/support/consistency.ts';
import { expectNodesMatchLedger } from './node-consistency.ts';
import { type NodeEnvironment, startNodeEnvironment } from './node-environment.ts';
import { printServerLogs } from './server-logs.ts';

/** The time limit of the cluster start and of each test. */
const limitMs = 600_000;

/** A test on nodes. After it, ledger, Kubernetes objects and the real NICs must agree. */
export type NodeTest = (title: string, work: (environment: NodeEnvironment) => Promise<void>) => void;

/**
 * Defines a suite with two nodes. It is skipped with the reason on machines that cannot run nodes.
 */
export function describeOnNodes(title: string, suite: (test: NodeTest) => void): void {
  describe(title, function () {
    this.timeout(limitMs);
    let run: Run;
    let environment: NodeEnvironment;
    before(async function () {
      const support = await probeNodeSupport();
      if (!support.isAvailable) {
        console.log(`      skipped, this machine cannot run nodes: ${support.reason}`);
        this.skip();
      }
      run = openRun();
      environment = await printServerLogs(run, () => startNodeEnvironment(run));
    });
    after(() => run?.end());
    suite((what, work) =>
      it(what, () =>
        printServerLogs(run, async () => {
          await work(environment);
          await expectConsistency(environment.stack);
          await expectNodesMatchLedger(environment);
        }),
      ),
    );
  });
}
