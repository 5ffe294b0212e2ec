/** The start of the command line: `ipledger who-had`, as its package has it, beside Node alone. */
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { bundlePrograms } from '../../../build/bundle/bundle-programs.ts';
import { root } from '../../harness/paths.ts';
import { mustRun } from '../../harness/processes/command.ts';
import { childEnvironment } from '../../harness/processes/launch.ts';
import type { Run } from '../../harness/run.ts';
import type { BenchGroup, BenchOptions } from '../bench-row.ts';
import { alternate, createMeasurement, measureTime, median } from '../measurement.ts';
import { openSmallLedger } from './add/add-environment.ts';

const callsPerRound = { smoke: 1, normal: 15, long: 50 };

export const commandLineRows: BenchGroup = {
  rows: ['cli'],
  async measure({ run, rounds, size, record }: BenchOptions) {
    const ledger = await openSmallLedger(run);
    const [pod = ''] = await ledger.allocate(1);
    const allocation = (await ledger.readAllocations()).get(pod);
    const address = allocation?.addresses[0]?.address ?? '';
    const [program, env] = [
      await installCommandLine(run),
      childEnvironment({ XDG_CACHE_HOME: join(run.folder, 'cache') }),
    ];
    const whoHad = ['who-had', address, '--allocator', ledger.endpoint];
    const calls = callsPerRound[size];
    const { ours, floor } = await alternate(
      rounds,
      () =>
        medianMs(calls, async () => {
          const answer = await mustRun(program, whoHad, { env });
          if (!answer.includes(pod)) throw new Error(`who-had ${address} does not name ${pod}: ${answer}`);
        }),
      () => medianMs(calls, () => mustRun(process.execPath, ['-e', '0'], { env })),
    );
    record(createMeasurement({ name: 'cli', what: 'ms from exec to exit', ours, floor, goal: { atMost: 2.5 } }));
  },
};

/** Installs the command line as its archive does. Returns its launcher. */
async function installCommandLine(run: Run): Promise<string> {
  const installed = join(run.folder, 'installed');
  const library = join(installed, 'lib/ipledger');
  await bundlePrograms(['ipledger'], library);
  symlinkSync(process.execPath, join(library, 'node'));
  mkdirSync(join(installed, 'bin'));
  const launcher = join(installed, 'bin/ipledger');
  copyFileSync(join(root, 'cli/ipledger'), launcher);
  return launcher;
}

async function medianMs(calls: number, work: () => Promise<unknown>): Promise<number> {
  const durations: number[] = [];
  for (let each = 0; each < calls; each++) durations.push((await measureTime(work)).ms);
  return median(durations);
}
