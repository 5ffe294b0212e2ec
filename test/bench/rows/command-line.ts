/** The row about the start of the command line: the packaged `who-had`, beside Node alone. */
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { bundlePrograms } from '../../../build/bundle/bundle-programs.ts';
import { root } from '../../harness/paths.ts';
import { childEnvironment } from '../../harness/processes/launch.ts';
import type { Run } from '../../harness/run.ts';
import type { BenchGroup, BenchOptions } from '../bench-row.ts';
import { alternate, createMeasurement, median } from '../measurement.ts';
import { type ProcessCall, type TimedProcess, timeProcesses } from '../time-processes.ts';
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
    const whoHad = { program, args: ['who-had', address, '--allocator', ledger.endpoint], env };
    const calls = callsPerRound[size];
    const { ours, floor } = await alternate(
      rounds,
      async () => {
        const answers = await timeRepeated(whoHad, calls);
        const wrong = answers.find(({ stdout }) => !stdout.includes(pod));
        if (wrong) throw new Error(`who-had ${address} does not name ${pod}: ${wrong.stdout}`);
        return medianMs(answers);
      },
      async () => medianMs(await timeRepeated({ program: process.execPath, args: ['-e', '0'], env }, calls)),
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

const timeRepeated = async (call: ProcessCall, times: number): Promise<readonly TimedProcess[]> =>
  (await timeProcesses(Array.from({ length: times }, () => call))).calls;

const medianMs = (processes: readonly TimedProcess[]): number => median(processes.map(({ ms }) => ms));
