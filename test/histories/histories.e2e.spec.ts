/**
 * Histories of three allocators on three members of etcd, under faults, judged from outside. In
 * `make test` one short history; `make histories RUNS=n` records longer ones.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createSeededRandom } from '../faults/seeded-random.ts';
import { printProgress } from '../harness/progress.ts';
import { openRun, type Run } from '../harness/run.ts';
import { checkHistory } from './check-history.ts';
import { openClients } from './clients.ts';
import { History, inputKinds } from './history.ts';
import { causeFaults } from './machine-faults.ts';
import { readLedger } from './read-ledger.ts';
import { type Machines, startMachines } from './machines.ts';
import { startWatcher } from './watchers.ts';

const runs = Number(process.env['HISTORY_RUNS'] ?? 1);
const seconds = Number(process.env['HISTORY_SECONDS'] ?? 25);
const clientCount = 10;
/** The number of lengths up to which a run continues until each kind of call had an answer. */
const maxPatience = 4;

describe('A history of three allocators on three members of etcd, under faults', function () {
  this.timeout((maxPatience * seconds + 600) * 1_000);
  let run: Run;
  let machines: Machines;
  let history: History;
  let done: string[];
  beforeEach(async () => {
    run = openRun();
    history = new History();
    done = [];
    machines = await startMachines(run);
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') printProgress(done.join('\n'));
    await run.end();
  });

  for (let round = 1; round <= runs; round++)
    it(`A history of three allocators on three members of etcd, under faults is linearizable for each address and Pod name, and equals the log, its fold and all streams${runs > 1 ? ` (run ${round})` : ''}`, async () => {
      const random = createSeededRandom('history', round);
      const endpoints = machines.all.map(({ endpoint }) => endpoint);
      const clients = openClients(history, endpoints, random.fork());
      run.onEnd(() => clients.close());
      await clients.prepare();
      const watchers = [
        ...endpoints.map((each, index) => ({ name: `replica-${index}`, endpoints: each, subnet: '' })),
        { name: 'filtered', endpoints: endpoints.join(), subnet: 'wan' },
      ].map((each) => ({ ...each, watcher: startWatcher(run, history, each) }));
      const startedAt = performance.now();
      const elapsed = (): number => (performance.now() - startedAt) / 1_000;
      const isOver = (): boolean =>
        elapsed() > (history.answered.size === inputKinds.length ? seconds : maxPatience * seconds);
      const note = (what: string): void => void done.push(`${elapsed().toFixed(1)} s: ${what}`);
      await Promise.all([clients.run(clientCount, isOver), causeFaults(machines, random.fork(), { isOver, note })]);
      await clients.readAll();
      const { events, lines } = await readLedger(machines);
      for (const { watcher, subnet } of watchers)
        await watcher.hasSeen(events.findLast((each) => subnet === '' || each.subnet === subnet)?.seq ?? 0);
      const all = [...history.lines, ...lines];
      if (process.env['KEEP'] === '1') writeFileSync(join(run.folder, 'history.ndjson'), all.join('\n'));
      const { violations, ...report } = await checkHistory(all);
      printProgress(`${JSON.stringify(report)}, ${done.length} faults and ends`);
      expect(violations.join('\n')).to.equal('');
      expect([...history.answered], 'kinds of calls with an answer').to.have.members(inputKinds);
      expect(report.unknown, 'operations without an answer').to.be.greaterThan(0);
      expect(report.claims).to.be.greaterThan(10);
      expect(report.deliveries).to.be.greaterThan(3 * report.events);
    });
});
