/**
 * Attacks by one client of each kind at its limits, against an allocator in a cgroup with the
 * chart's memory limit. The agent of another node goes on binding its Pod.
 * services/allocator/grpc/fairness.unit.spec.ts counts how much work may come before such a bind;
 * the rows `attack-…` of the bench compare the waits. CHAOS=1 attacks for longer.
 */
import { expect } from 'chai';
import { createMemoryCgroup } from '../harness/node/cgroup.ts';
import { probeHttp } from '../harness/processes/readiness-probes.ts';
import { printProgress } from '../harness/progress.ts';
import { openRun, type Run } from '../harness/run.ts';
import { peakResidentMiB, resetPeakMemory } from '../scale/resource-usage.ts';
import { type AttackedLedger, chartMemoryMiB, startAttackedLedger, type TimedBind } from './attacked-ledger.ts';
import { type AttackerName, attackers, startAttacker } from './running-attacker.ts';

const isLong = process.env['CHAOS'] === '1';
const allocations = isLong ? 20_000 : 1_000;
/** The number of binds: two for each attacker, within the rate of an agent. */
const bindings = isLong ? 400 : 60;
const factor = isLong ? 20 : 1;
const probeMs = 20_000;
const limitMiB = chartMemoryMiB('allocator');

describe('An attacked allocator', function () {
  this.timeout(isLong ? 3_600_000 : 300_000);
  let run: Run;
  let ledger: AttackedLedger;
  let election: number;
  let pid: number;

  before(async function () {
    const trial = openRun();
    try {
      createMemoryCgroup(trial, `ipledger-${trial.id}-try`, 1_024 ** 3);
    } catch (error) {
      printProgress(`attacks are skipped: ${String(error)}`);
      this.skip();
    } finally {
      await trial.end();
    }
  });
  // A ledger for each attacker: a measurement has no work of an earlier attacker.
  beforeEach(async () => {
    run = openRun();
    ledger = await startAttackedLedger(run, allocations, limitMiB);
    election = await ledger.readElection();
    ({ pid } = ledger.allocator);
  });
  afterEach(() => run?.end());

  for (const name of Object.keys(attackers) as AttackerName[]) {
    const { who, calls } = attackers[name];
    it(`An attacked allocator serves another agent and its probes, keeps its lease and its memory limit beside ${who}`, async () => {
      const alone = await ledger.attachRepeatedly(bindings);
      resetPeakMemory(pid);
      await using attacker = await startAttacker(name, ledger.target, calls * factor);
      const attacked = await ledger.attachRepeatedly(bindings);
      await probeHttp(`http://${ledger.target.health}/livez`, AbortSignal.timeout(probeMs));
      expect(attacker.isAtWork, 'the attacker is still at work').to.be.true;
      expect(ledger.allocator.isAlive, 'the allocator runs').to.be.true;
      const waits = `a bind waited at most ${longest(attacked)} ms, alone ${longest(alone)}`;
      printProgress(`${name}: ${JSON.stringify(attacker.outcomes)}; ${waits}; at most ${peakResidentMiB(pid)} MiB`);
      expect(await ledger.readElection(), 'the election of the writer').to.equal(election);
      expect(peakResidentMiB(pid), 'MiB resident').to.be.below(limitMiB);
    });
  }
});

const longest = (binds: readonly TimedBind[]): number => Math.round(Math.max(...binds.map(({ waitedMs }) => waitedMs)));
