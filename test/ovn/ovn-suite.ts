/** A test suite on two nodes with OVN. */
import { probeNodeSupport } from '../harness/node/node-support.ts';
import { probeOvn } from '../harness/ovn/ovn-programs.ts';
import { openRun, type Run } from '../harness/run.ts';
import { printServerLogs } from '../node/server-logs.ts';
import { type OvnEnvironment, startOvnEnvironment } from './ovn-environment.ts';

/** The time limit of the start of the nodes and of each test. */
const limitMs = 600_000;

export type OvnTest = (title: string, work: (environment: OvnEnvironment) => Promise<void>) => void;

/** Defines a suite with two nodes. It is skipped with the reason on machines that cannot run it. */
export function describeOnOvn(title: string, suite: (test: OvnTest) => void): void {
  describe(title, function () {
    this.timeout(limitMs);
    let run: Run;
    let environment: OvnEnvironment;
    before(async function () {
      for (const ability of [await probeNodeSupport(), probeOvn()])
        if (!ability.isAvailable) {
          console.log(`      skipped: ${ability.reason}`);
          this.skip();
        }
      run = openRun();
      environment = await printServerLogs(run, () => startOvnEnvironment(run));
    });
    after(() => run?.end());
    suite((what, work) => it(what, () => printServerLogs(run, () => work(environment))));
  });
}
