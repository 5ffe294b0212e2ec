/**
 * Runs three allocators of the version before and of this version, side by side, on one ledger
 * under load: they are upgraded one after the other, and one is rolled back in between. The history
 * is checked as any other.
 *
 * The version before is this version without the newest schema version of the log. With
 * UPGRADE_FROM=COMMIT it is the allocator of an earlier commit, with the packages of today.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../e2e/support/eventually.ts';
import { createSeededRandom } from '../faults/seeded-random.ts';
import { mustRun } from '../harness/processes/command.ts';
import { root } from '../harness/paths.ts';
import { printProgress } from '../harness/progress.ts';
import { openRun, type Run } from '../harness/run.ts';
import { checkHistory } from './check-history.ts';
import { openClients } from './clients.ts';
import { History } from './history.ts';
import { type Machine, type Machines, type Program, startMachines } from './machines.ts';
import { readLedger } from './read-ledger.ts';
import { startWatcher } from './watchers.ts';

const { UPGRADE_FROM: commit = '' } = process.env;
const clientCount = 6;
const current: Program = {};

describe('An upgrade of the allocators under load', function () {
  this.timeout(300_000);
  let run: Run;
  let machines: Machines;
  let previous: Program;
  before(async () => {
    run = openRun();
    previous = commit === '' ? { preload: join(import.meta.dirname, 'previous-schema.ts') } : await unpack(commit);
    machines = await startMachines(run, previous);
  });
  after(() => run?.end());

  /** The allocator of an earlier commit. */
  async function unpack(earlier: string): Promise<Program> {
    const folder = join(run.folder, 'earlier');
    const script = `mkdir "$1" && git archive "$0" | tar -x -C "$1" && ln -s "$2/node_modules" "$1/node_modules"`;
    await mustRun('sh', ['-c', script, earlier, folder, root], { folder: root });
    return { main: join(folder, 'services', 'allocator', 'main.ts') };
  }

  const versionsIn = (lines: readonly string[]): number[] =>
    lines
      .flatMap((line) => (JSON.parse(line) as { event?: string }).event ?? [])
      .map((text) => (JSON.parse(text) as { v: number }).v);
  const newestVersion = async (): Promise<number> => Math.max(...versionsIn((await readLedger(machines)).lines));

  it('An upgrade of the allocators under load keeps each answer correct, can be rolled back until all allocators are upgraded, and then refuses the version before', async () => {
    const history = new History();
    const random = createSeededRandom('upgrade');
    const endpoints = machines.all.map(({ endpoint }) => endpoint);
    const clients = openClients(history, endpoints, random.fork());
    run.onEnd(() => clients.close());
    await clients.prepare();
    const watchers = endpoints.map((each, index) =>
      startWatcher(run, history, { name: `watcher-${index}`, endpoints: [each, ...endpoints].join() }),
    );
    let isOver = false;
    const work = clients.run(clientCount, () => isOver);

    const before = await newestVersion();
    const [first, second, third] = random.shuffle(machines.all) as [Machine, Machine, Machine];
    for (const program of [current, previous]) await machines.changeProgram(first, program);
    for (const machine of [second, first]) await machines.changeProgram(machine, current);
    expect(await newestVersion(), 'written while one allocator is of the version before').to.equal(before);
    await machines.changeProgram(third, current);
    await eventually(async () => expect(await newestVersion()).to.be.greaterThan(before));
    // The version before ends at the first event that it reads, perhaps after its start
    await machines.changeProgram(third, previous).catch(() => undefined);
    await eventually(() => expect(third.allocator.isAlive).to.be.false);
    expect(readFileSync(third.allocator.log, 'utf8')).to.match(/has schema version \d+, but this program reads only/);

    isOver = true;
    await work;
    await clients.readAll();
    const { events, lines } = await readLedger(machines);
    for (const watcher of watchers) await watcher.hasSeen(events.length);
    const { violations, ...report } = await checkHistory([...history.lines, ...lines]);
    printProgress(JSON.stringify(report));
    expect(violations.join('\n')).to.equal('');
  });
});
