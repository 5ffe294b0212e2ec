/** What the demo plays on: servers of its own, a terminal that reaches them, and what has to be cleared away behind it. */
import { join } from 'node:path';
import { pluginNames, programNames } from '../harness/catalogue.ts';
import { type Ability, canMacvlan } from '../harness/network.ts';
import { cacheFolder } from '../harness/paths.ts';
import { findPlugins, findProgram } from '../harness/programs.ts';
import { openRun, type Run } from '../harness/run.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** Not the folder of `make up`: a ledger that somebody works with is not played on. */
export const folder = join(cacheFolder, 'demo');

export interface Stage {
  readonly terminal: Terminal;
  readonly run: Run;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Whether Pods can get real interfaces here. */
  readonly macvlan: Ability;
}

/** Finds (or builds) all programs first, which may take minutes; then nothing interrupts the story. */
export async function openStage(signal: AbortSignal): Promise<Stage> {
  for (const name of programNames) if (!pluginNames.includes(name)) await findProgram(name, signal);
  await findPlugins(signal);
  const macvlan = await canMacvlan();
  const run = openRun();
  // The servers outlive whoever started them: should that be killed, somebody else has to end them.
  run.leave([process.execPath, join(import.meta.dirname, 'end.ts'), folder]);
  // cnitool keeps the results of ADD on the machine's disk until DEL; they name the sandbox.
  const forget = 'grep -ls "$0" /var/lib/cni/results/* | xargs -r rm -f';
  run.leave(['sh', '-c', forget, `/ipledger-${run.id}-`]);
  const terminal = openTerminal(join(run.folder, 'kubectl-cache'), signal);
  return { terminal, run, signal, macvlan };
}
